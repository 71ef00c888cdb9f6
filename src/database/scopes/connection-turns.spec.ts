import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ConnectionTurns } from './connection-turns.js';

beforeEach(() => void vi.useFakeTimers());

describe('turns', () => {
  it('are given in the order in which they were asked for, one at a time', async () => {
    const turns = new ConnectionTurns();
    const order: number[] = [];
    let atOnce = 0;
    await Promise.all(
      [1, 2, 3, 4].map(async (name) => {
        const giveBack = await turns.take();
        atOnce += 1;
        expect(atOnce).toBe(1);
        await Promise.resolve();
        order.push(name);
        atOnce -= 1;
        giveBack();
      }),
    );
    expect(order).toEqual([1, 2, 3, 4]);
  });

  it('are waited for 10 s, then refused as unavailable; who waits on gets the next', async () => {
    const turns = new ConnectionTurns();
    const giveBack = await turns.take();
    const refused = turns.take().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(5_000);
    const patient = turns.take();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await refused).toMatchObject({
      body: { status: 503, code: 'service_unavailable' },
      headers: { 'Retry-After': '1' },
    });
    giveBack();
    (await patient)();
    (await turns.take())();
    expect(vi.getTimerCount()).toBe(0);
  });
});
