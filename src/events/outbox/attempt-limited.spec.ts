import { describe, expect, it } from 'vitest';
import { attemptLimited } from './attempt-limited.js';

const never = () => new Promise<never>(() => undefined);
const { signal } = new AbortController();

describe('an attempt', () => {
  it.each([
    ['nothing', () => undefined],
    ['a promise', () => Promise.resolve()],
  ])('that answers %s succeeds', async (_, work) => {
    await expect(attemptLimited(signal, work)).resolves.toBeUndefined();
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
  ])('that %s fails', async (_, work) => {
    await expect(attemptLimited(signal, work)).rejects.toThrow('no');
  });

  it('that never ends fails after its time, and is told', async () => {
    let told: AbortSignal | undefined;
    const work = (limited: AbortSignal) => {
      told = limited;
      return never();
    };
    await expect(attemptLimited(signal, work, 1)).rejects.toThrow('It took longer than 0.001 s.');
    expect(told?.aborted).toBe(true);
  });

  it('ends when its signal aborts', async () => {
    const stop = new AbortController();
    const attempt = attemptLimited(stop.signal, never);
    stop.abort(new Error('The service stops.'));
    await expect(attempt).rejects.toThrow('The service stops.');
  });
});
