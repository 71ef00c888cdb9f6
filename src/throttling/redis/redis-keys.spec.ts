import { Command } from 'ioredis';
import { expect, it } from 'vitest';
import { RedisKeys } from './redis-keys.js';

/** The hash slot by ioredis, which sends a command to the node that has it. */
const slotOf = (key: string) => new Command('get', [key]).getSlot();

// What belongs to one subject is asked by test/support/quota-store-suite.ts, on a cluster.
it('of what instances tell one another lie in one slot of a cluster', () => {
  const keys = new RedisKeys('shop:', true);
  const names = [keys.versions(), keys.writers('responses'), keys.writers('keys'), keys.instances()];
  expect(new Set(names.map(slotOf)).size).toBe(1);
});

// An instance of the version before counts in the same Redis while a new one is rolled out.
it('are those of the versions before on a single server', () => {
  const keys = new RedisKeys('shop:');
  expect([
    keys.counter('client:a', 'client:a', 60_000, 7),
    keys.strikes('client:a', 'k'),
    keys.instances(),
  ]).toEqual(['shop:client:a:60000:7', 'shop:client:a:key:k', 'shop:instances']);
});
