import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Turns } from './turns.js';

beforeEach(() => void vi.useFakeTimers());

describe('turns', () => {
  it('are as many at a time as there may be, and refused at once to all who wait when nothing is to be had', async () => {
    const turns = new Turns(2);
    const [giveBack] = [await turns.take(), await turns.take()];
    const waiting = [turns.take(), turns.take()];
    expect(turns.load).toEqual({ taken: 2, waiting: 2 });
    turns.refuse(new Error('stuck'));
    expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    giveBack();
    (await turns.take())();
    expect(turns.load).toEqual({ taken: 1, waiting: 0 });
  });
});
