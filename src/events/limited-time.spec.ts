import { describe, expect, it } from 'vitest';
import { withTimeout } from './limited-time.js';

const never = () => new Promise<never>(() => undefined);
const { signal } = new AbortController();

describe('work that is limited in time', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
  ])('fails when it %s', async (_, work) => {
    await expect(withTimeout(1_000, signal, work)).rejects.toThrow('no');
  });

  it('ends when its signal aborts, and does not start after that', async () => {
    const stop = new AbortController();
    const attempt = withTimeout(1_000, stop.signal, never);
    stop.abort(new Error('The service is stopping.'));
    await expect(attempt).rejects.toThrow('The service is stopping.');
    await expect(withTimeout(1_000, stop.signal, () => expect.fail())).rejects.toThrow(
      'The service is stopping.',
    );
  });
});
