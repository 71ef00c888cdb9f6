import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Semaphore } from './semaphore.js';

beforeEach(() => void vi.useFakeTimers());

describe('the turns of a semaphore', () => {
  it('are as many at a time as there may be, and refused at once to all who wait when nothing is to be had', async () => {
    const turns = new Semaphore(2);
    const [release] = [await turns.acquire(), await turns.acquire()];
    const waiting = [turns.acquire(), turns.acquire()];
    expect(turns.load).toEqual({ inUse: 2, waiting: 2 });
    turns.refuse(new Error('stuck'));
    expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    release();
    (await turns.acquire())();
    expect(turns.load).toEqual({ inUse: 1, waiting: 0 });
  });
});
