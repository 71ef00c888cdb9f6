import { expect, it } from 'vitest';
import { WaitedTooLong } from './request-waits.js';
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
  await places.take(10);
  const order: string[] = [];
  await expect(places.take(1)).rejects.toBeInstanceOf(WaitedTooLong);
  const waiting = ['first', 'second'].map(async (name) => {
    await places.take(1_000);
    order.push(name);
    places.giveBack();
  });
  places.giveBack();
  await Promise.all(waiting);
  expect(order).toEqual(['first', 'second']);
  await places.take(1);
});

it('refuse all who wait at once', async () => {
  const places = new WritePlaces(1);
  await places.take(10);
  const waiting = [places.take(1_000), places.take(1_000)];
  places.refuse(new Error('stuck'));
  expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  places.giveBack();
  await places.take(1);
});
