import { expect, it } from 'vitest';
import { RedisKeys } from './redis-keys.js';

// Counts continue after an update, and startup detects instances of these builds.
it('are those of the builds before', () => {
  const names = (keys: RedisKeys) => [
    keys.counter('client:a', 'client:a', 60_000, 7),
    keys.strikes('client:a', 'k'),
    keys.beatsOfOlderBuilds(),
  ];
  expect(names(new RedisKeys('shop:'))).toEqual([
    'shop:client:a:60000:7',
    'shop:client:a:key:k',
    'shop:instances',
  ]);
  expect(names(new RedisKeys('shop:', true))).toEqual([
    'shop:{:client:a}:client:a:60000:7',
    'shop:{:client:a}:client:a:key:k',
    'shop:{shared}:instances',
  ]);
});
