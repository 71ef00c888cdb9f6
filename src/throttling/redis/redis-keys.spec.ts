import { Command } from 'ioredis';
import { expect, it } from 'vitest';
import { RedisKeys } from './redis-keys.js';

/** The hash slot by ioredis, which sends a command to the node that has it. */
const slotOf = (key: string) => new Command('get', [key]).getSlot();

it.each(['client:a', 'address:2001:db8::', 'user:{x}', '}', '{}', '%', 'é'])(
  'of all that a decision on %s needs lie in one slot of a cluster',
  (subject) => {
    const keys = new RedisKeys('shop:', true);
    const names = [
      keys.strikes(subject, 'k'),
      keys.strikes(subject, ''),
      keys.counter(subject, subject, 60_000, 7),
      keys.counter(subject, `${subject}:rare`, 10_000, 8),
      keys.handedOver('1', subject, keys.counter(subject, subject, 60_000, 7)),
    ];
    expect(new Set(names.map(slotOf)).size).toBe(1);
  },
);

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
