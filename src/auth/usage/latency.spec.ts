import { expect, it } from 'vitest';
import { bucketOf, quantile } from './latency.js';

it.each([
  [0, -2],
  [0.25, -2],
  [0.26, -1],
  [1, 0],
  [1.01, 1],
  [16, 4],
  [16_001, 14],
  [Number.MAX_VALUE, 15],
])('%d ms are counted in bucket %d', (ms, bucket) => {
  expect(bucketOf(ms)).toBe(bucket);
});

it.each([
  ['none', [], null, null],
  ['one', [[3, 1]], 6, 7.96],
  ['many of one bucket', [[0, 100]], 0.75, 1],
  ['the fastest', [[-2, 10]], 0.13, 0.25],
  [
    'few that are slow, noted first',
    [
      [10, 2],
      [1, 98],
    ],
    1.51,
    768,
  ],
] as const)('the latency of %s', (_, buckets, half, most) => {
  const counted = new Map<number, number>(buckets as readonly (readonly [number, number])[]);
  expect([quantile(0.5, counted), quantile(0.99, counted)]).toEqual([half, most]);
});
