import { expect, it } from 'vitest';
import { RedisKeys } from './redis-keys.js';

it('begin with the prefix, and are told apart', () => {
  const keys = new RedisKeys('shop:');
  const all = [
    keys.counter('client:a', 60_000, 7),
    keys.counter('client:b', 60_000, 7),
    keys.counter('client:a', 86_400_000, 7),
    keys.counter('client:a', 60_000, 8),
    keys.state('client:a', 'k'),
    keys.state('client:a', 'l'),
    keys.state('client:b', 'k'),
    keys.instances(),
    keys.handedOver('1'),
    keys.handedOver('2'),
  ];
  expect(new Set(all).size).toBe(all.length);
  for (const key of all) expect(key).toMatch(/^shop:[a-z]/);
});

// An instance of the version before counts in the same Redis while a new one is rolled out.
it('are those of the versions before', () => {
  const keys = new RedisKeys('shop:');
  expect([
    keys.counter('client:a', 60_000, 7),
    keys.state('client:a', 'k'),
    keys.instances(),
    keys.handedOver('1'),
  ]).toEqual(['shop:client:a:60000:7', 'shop:client:a:key:k', 'shop:instances', 'shop:handed-over:1']);
});
