import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Semaphore } from './semaphore.js';

beforeEach(() => void vi.useFakeTimers());

describe('the permits of a semaphore', () => {
  it('are as many at a time as there may be, and refused at once to all who wait when nothing is to be had', async () => {
    const permits = new Semaphore(2);
    const [release] = [await permits.acquire(), await permits.acquire()];
    const waiting = [permits.acquire(), permits.acquire()];
    expect(permits.load).toEqual({ inUse: 2, waiting: 2 });
    permits.refuse(new Error('stuck'));
    expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    release();
    (await permits.acquire())();
    expect(permits.load).toEqual({ inUse: 1, waiting: 0 });
  });
});
