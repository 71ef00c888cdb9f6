import { expect, it } from 'vitest';
import { RedisKeys } from './redis-keys.js';

// An instance of the version before counts in the same Redis while a new one is rolled out.
it('are those of the versions before on a single server', () => {
  const keys = new RedisKeys('shop:');
  expect([
    keys.counter('client:a', 'client:a', 60_000, 7),
    keys.strikes('client:a', 'k'),
    keys.instances(),
  ]).toEqual(['shop:client:a:60000:7', 'shop:client:a:key:k', 'shop:instances']);
});
