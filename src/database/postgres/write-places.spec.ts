import { expect, it, vi } from 'vitest';
import { WritePlaces, placesOf } from './write-places.js';

it.each([
  [1, 1],
  [2, 2],
  [3, 2],
  [5, 4],
  [10, 8],
  [100, 80],
])('of %i connections %i may write at the same time', (pool, places) => {
  expect(placesOf(pool)).toBe(places);
});

it('go to those who wait in their order, and to nobody who waits no more', async () => {
  const places = new WritePlaces(1);
  await places.take();
  const order: string[] = [];
  vi.useFakeTimers();
  const refused = expect(places.take()).rejects.toThrow('as long as it may');
  await vi.advanceTimersByTimeAsync(1_000);
  await refused;
  vi.useRealTimers();
  const waiting = ['first', 'second'].map(async (name) => {
    await places.take();
    order.push(name);
    places.giveBack();
  });
  places.giveBack();
  await Promise.all(waiting);
  expect(order).toEqual(['first', 'second']);
  await places.take();
});

it('refuse all who wait at once', async () => {
  const places = new WritePlaces(1);
  await places.take();
  const waiting = [places.take(), places.take()];
  places.refuse(new Error('stuck'));
  expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  places.giveBack();
  await places.take();
});
