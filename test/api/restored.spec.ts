import { expect, it, vi } from 'vitest';

const { setInterval } = globalThis;

it('what a test replaces', () => {
  vi.useFakeTimers();
  vi.spyOn(globalThis, 'setInterval').mockReturnValue(0 as never);
  expect(globalThis.setInterval).not.toBe(setInterval);
});

it('is restored for the next one', () => {
  expect(globalThis.setInterval).toBe(setInterval);
  expect(vi.isFakeTimers()).toBe(false);
});
