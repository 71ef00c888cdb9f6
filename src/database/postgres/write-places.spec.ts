import { expect, it } from 'vitest';
import { writePlaces } from './write-places.js';

it.each([
  [1, 1],
  [2, 2],
  [3, 2],
  [5, 4],
  [10, 8],
  [100, 80],
])('of %i connections %i may write at the same time', (pool, places) => {
  expect(writePlaces(pool).most).toBe(places);
});
