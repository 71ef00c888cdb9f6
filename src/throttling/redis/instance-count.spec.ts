import type { Redis } from 'ioredis';
import { beforeEach, expect, it, vi } from 'vitest';
import { SystemClock } from '../../core/time/clock.js';
import { Metrics } from '../../core/metrics/metrics.js';
import { InstanceCount } from './instance-count.js';
import { RedisKeys } from './redis-keys.js';

const KEPT_MS = 15_000;
const time = { now: 0 };

beforeEach(() => {
  time.now = 1_000_000;
  vi.spyOn(performance, 'now').mockImplementation(() => time.now);
});

function open() {
  const metrics = new Metrics();
  const sent: unknown[][] = [];
  let answer: unknown = [1, 1];
  const redis = {
    eval: (_script: string, ...rest: unknown[]) => Promise.resolve(sent.push(rest) && answer),
    zrem: (...rest: unknown[]) => Promise.resolve(sent.push(rest) && 1),
  } as unknown as Redis;
  const instances = new InstanceCount(redis, new RedisKeys('test:'), metrics, new SystemClock());
  /** A heartbeat that Redis answers with this; tells the number after it. */
  const beat = async (...answered: unknown[]) => {
    answer = answered;
    await instances.beat();
    return instances.number;
  };
  const shown = async () =>
    /^petstore_quota_redis_instances (\d+)$/m.exec((await metrics.exposition()).text)?.[1];
  return { instances, beat, shown, sent, metrics, answerWith: (other: unknown) => (answer = other) };
}

it('is one before Redis was asked', async () => {
  const { instances, shown, metrics } = open();
  expect([instances.number, await shown()]).toEqual([1, '1']);
  expect((await metrics.exposition()).text).toContain(
    '# HELP petstore_quota_redis_instances Instances that count in Redis, as last seen: while one counts alone, limits are divided by them.',
  );
});

it('takes a larger number at once, and a smaller one after 15 seconds', async () => {
  const { beat, shown } = open();
  expect(await beat(2, 1)).toBe(2);
  expect(await beat(5, 0)).toBe(5);
  time.now += KEPT_MS - 1;
  expect([await beat(1, 0), await shown()]).toEqual([5, '5']);
  time.now += 1;
  expect([await beat(1, 0), await shown()]).toEqual([1, '1']);
});

it('keeps a number from when it was last seen, not first', async () => {
  const { beat } = open();
  await beat(3, 1);
  time.now += 10_000;
  await beat(3, 0);
  time.now += 10_000;
  expect(await beat(2, 0)).toBe(3);
  time.now += 5_000;
  expect(await beat(2, 0)).toBe(2);
});

it('is kept for 15 seconds more when Redis is back: the others may be away a little longer', async () => {
  const { beat, instances } = open();
  await beat(3, 1);
  time.now += 60_000;
  instances.keep();
  time.now += KEPT_MS - 1;
  expect(await beat(1, 1)).toBe(3);
  time.now += 1;
  expect(await beat(1, 0)).toBe(1);
});

it('is never less than one, whatever a Redis says that has just lost everything', async () => {
  const { beat } = open();
  expect(await beat(0, 1)).toBe(1);
});

it('tells whether Redis knew of this instance', async () => {
  const { instances, answerWith } = open();
  answerWith([1, 1]);
  expect(await instances.beat()).toEqual({ isNew: true });
  answerWith([1, 0]);
  expect(await instances.beat()).toEqual({ isNew: false });
});

it.each([
  ['nothing', null],
  ['a text', ['2', 1]],
  ['a fraction', [1.5, 1]],
  ['no list', 'OK'],
])('is not taken from %s', async (_, answer) => {
  const { instances, answerWith } = open();
  answerWith(answer);
  await expect(instances.beat()).rejects.toThrow('it answered something that is no count');
  expect(instances.number).toBe(1);
});

it('is told of by each instance under a name of its own, for ten seconds at a time, until it leaves', async () => {
  const [one, other] = [open(), open()];
  for (const { instances } of [one, other]) {
    instances.join();
    await instances.beat();
    await instances.leave();
  }
  const [beat, leave] = one.sent;
  const name = one.instances.dataName;
  expect(beat).toEqual([2, 'test:instances', 'test:data', expect.any(String), 10_000, name, 86_400_000]);
  expect(leave).toEqual(['test:instances', beat?.[3]]);
  expect(other.sent[0]?.[3]).not.toBe(beat?.[3]);
});

it('is not one more by a process that has not joined', async () => {
  const { instances, sent } = open();
  await instances.beat();
  expect(sent[0]?.[3]).toBe('');
});

it('brings the name of the data, which is told to a Redis that has none', async () => {
  const { instances, beat, sent } = open();
  const own = instances.dataName;
  await beat(1, 1, 'found');
  await beat(1, 0, 'found');
  expect(instances.dataName).toBe('found');
  expect(sent.map((args) => args[5])).toEqual([own, 'found']);
});
