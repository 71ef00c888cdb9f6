import { setImmediate } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { expect, it, onTestFinished, vi } from 'vitest';
import { SystemClock } from '../../src/core/time/clock.js';
import { Metrics } from '../../src/core/metrics/metrics.js';
import { BAN_RULES } from '../../src/throttling/bans.js';
import { MemoryQuotaStore } from '../../src/throttling/memory/memory-quota-store.js';
import { DAY_MS, MINUTE_MS } from '../../src/core/time/duration.js';
import type { QuotaRequest } from '../../src/throttling/quota.js';
import { InstanceCount } from '../../src/throttling/redis/instance-count.js';
import { type KnownCount, KnownCounts } from '../../src/throttling/redis/known-counts.js';
import { withTimeout } from '../../src/throttling/redis/redis-commands.js';
import { RedisKeys } from '../../src/throttling/redis/redis-keys.js';
import { RedisQuotaStore } from '../../src/throttling/redis/redis-quota-store.js';
import { ResilientQuotaStore } from '../../src/throttling/redis/resilient-quota-store.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { folderOfTest, petstore } from '../support/service-process.js';

const NOW = Date.UTC(2026, 10, 20, 12, 0, 10);
const LIMIT = 400;
/** What Redis may take to answer here, in milliseconds: a machine that is busy is no fault that a test has asked for. */
const PATIENT_MS = 1_000;
/** Longest pause between two attempts to come back, and time for a machine that is busy, in milliseconds. */
const BACK_WITHIN = { timeout: 60_000, interval: 20 };

interface Instance {
  readonly store: ResilientQuotaStore;
  /** The value of a metric of it. */
  readonly metric: (name: string) => Promise<number>;
}

async function open(url: string): Promise<Instance> {
  const metrics = new Metrics();
  const settings = { location: { url, ca: null }, prefix: 'test:', limitMs: PATIENT_MS };
  const clock = new SystemClock();
  const store = await ResilientQuotaStore.open(settings, new MemoryQuotaStore(clock), metrics, clock);
  store.join();
  onTestFinished(() => store.onModuleDestroy());
  const metric = async (name: string) => {
    const { text } = await metrics.exposition();
    return Number(new RegExp(`^petstore_quota_redis_${name} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
  };
  return { store, metric };
}

/** A Redis of its own, and so many instances that know of each other. */
async function together(count: number, ...options: string[]) {
  const server = await RedisServer.ofTest(...options);
  const instances: Instance[] = [];
  for (let made = 0; made < count; made += 1) instances.push(await open(server.url));
  await untilKnown(instances);
  return { server, instances };
}

async function untilUp(instances: readonly Instance[]): Promise<void> {
  for (const { metric } of instances) await expect.poll(() => metric('up'), BACK_WITHIN).toBe(1);
}

/** Waits until all are up and know of each other: each learns of the others with its next heartbeat. */
async function untilKnown(instances: readonly Instance[]): Promise<void> {
  await untilUp(instances);
  for (const { metric } of instances)
    await expect.poll(() => metric('instances'), BACK_WITHIN).toBe(instances.length);
}

/** Kills Redis, and waits until all have noticed: one that has not would still be up when Redis is back. */
async function kill(server: RedisServer, instances: readonly Instance[]): Promise<void> {
  await server.kill();
  for (const { metric } of instances) await expect.poll(() => metric('up'), BACK_WITHIN).toBe(0);
}

const requestOf = (client: string, keyId = 'key'): QuotaRequest => ({
  subject: `client:${client}`,
  isClient: true,
  keyId: `${client}-${keyId}`,
  windows: [
    { key: `client:${client}`, name: 'minute', limit: LIMIT, lengthMs: MINUTE_MS },
    { key: `client:${client}`, name: 'day', limit: 10 * LIMIT, lengthMs: DAY_MS },
  ],
});

/** Sends requests to the instances in turn; answers how many were admitted, and how long the slowest took in ms. */
async function send(instances: readonly Instance[], client: string, times: number, now = NOW) {
  let admitted = 0;
  let slowestMs = 0;
  for (let sent = 0; sent < times; sent += 1) {
    const began = performance.now();
    const { store } = instances[sent % instances.length] as Instance;
    if ((await store.take(requestOf(client), now)).admitted) admitted += 1;
    slowestMs = Math.max(slowestMs, performance.now() - began);
  }
  return { admitted, slowestMs };
}

/** What an instance says is used of a client's minute. */
async function usedOf({ store }: Instance, client: string): Promise<number | undefined> {
  return (await store.peek(requestOf(client), NOW)).windows[0]?.used;
}

/** What the instances log. */
function listen(): string[] {
  const lines: string[] = [];
  for (const level of ['log', 'warn', 'error'] as const)
    vi.spyOn(Logger.prototype, level).mockImplementation((line: unknown) => void lines.push(String(line)));
  return lines;
}

/** A connection to a server, for the test. */
function connected(server: RedisServer): Redis {
  const redis = new Redis(server.url);
  onTestFinished(() => redis.disconnect());
  return redis;
}

/** A store with the default of REDIS_TIMEOUT_MS, on a Redis of its own that knows the scripts. */
async function impatient() {
  const server = await RedisServer.ofTest();
  // The default of REDIS_TIMEOUT_MS.
  const store = new RedisQuotaStore(
    connected(server),
    new RedisKeys('test:'),
    new SystemClock(),
    BAN_RULES,
    (answer) => withTimeout(answer, 50),
  );
  // Redis learns the script.
  await expect
    .poll(
      () =>
        store.probe().then(
          () => true,
          () => false,
        ),
      BACK_WITHIN,
    )
    .toBe(true);
  return { server, store };
}

interface Fault {
  readonly name: string;
  readonly options?: readonly string[];
  readonly begin: (server: RedisServer) => unknown;
  readonly end: (server: RedisServer) => unknown;
}

const FAULTS: readonly Fault[] = [
  {
    name: 'is killed and returns empty',
    begin: (server) => server.kill(),
    end: (server) => server.start(),
  },
  {
    name: 'is killed and returns with what it had',
    options: ['--appendonly', 'yes'],
    begin: (server) => server.kill(),
    end: (server) => server.start(),
  },
  {
    name: 'stands still and goes on',
    begin: (server) => server.signal('SIGSTOP'),
    end: (server) => server.signal('SIGCONT'),
  },
  {
    name: 'is full',
    begin: (server) => server.command('CONFIG', 'SET', 'maxmemory', '1'),
    end: (server) => server.command('CONFIG', 'SET', 'maxmemory', '0'),
  },
  {
    name: 'becomes a replica',
    begin: (server) => server.command('REPLICAOF', '127.0.0.1', '1'),
    end: (server) => server.command('REPLICAOF', 'NO', 'ONE'),
  },
  {
    name: 'asks for another password',
    begin: (server) => {
      server.command('CONFIG', 'SET', 'requirepass', 'other');
      server.command('-a', 'other', 'CLIENT', 'KILL', 'TYPE', 'normal');
    },
    end: (server) => server.command('-a', 'other', 'CONFIG', 'SET', 'requirepass', ''),
  },
  {
    name: 'no longer lets us write',
    begin: (server) => server.command('ACL', 'SETUSER', 'default', '-@write'),
    end: (server) => server.command('ACL', 'SETUSER', 'default', '+@write'),
  },
  {
    name: 'cannot save',
    begin: async (server) => {
      server.command('CONFIG', 'SET', 'save', '3600 1');
      server.command('CONFIG', 'SET', 'dir', '/proc');
      server.command('BGSAVE');
      await expect
        .poll(() => server.command('INFO', 'persistence'), BACK_WITHIN)
        .toContain('rdb_last_bgsave_status:err');
    },
    end: (server) => server.command('CONFIG', 'SET', 'stop-writes-on-bgsave-error', 'no'),
  },
];

describeWith('redis-server', 'when Redis', () => {
  it.each(FAULTS)(
    '$name, no more than 1.2 times the limit is admitted, no request waits, and two lines tell',
    async ({ begin, end, options = [] }) => {
      const { server, instances } = await together(2, ...options);
      const lines = listen();
      const attempts = vi.spyOn(Redis.prototype, 'connect');
      const clients = [
        { name: 'fresh', used: 0 },
        { name: 'half', used: LIMIT / 2 },
        { name: 'full', used: LIMIT },
      ];
      for (const { name, used } of clients) expect((await send(instances, name, used)).admitted).toBe(used);
      await begin(server);
      let slowestMs = 0;
      for (const client of clients) {
        const during = await send(instances, client.name, 2 * LIMIT);
        client.used += during.admitted;
        slowestMs = Math.max(slowestMs, during.slowestMs);
      }
      for (const { metric } of instances) expect(await metric('up')).toBe(0);
      // Each has found out, and some attempts to come back have failed.
      await expect.poll(() => attempts.mock.calls.length, BACK_WITHIN).toBeGreaterThan(2 * instances.length);
      await end(server);
      await untilUp(instances);
      for (const { name, used } of clients) {
        const admitted = used + (await send(instances, name, 2 * LIMIT)).admitted;
        expect(admitted, `${name}: ${lines.join('; ')}`).toBeGreaterThanOrEqual(LIMIT);
        expect(admitted, `${name}: ${lines.join('; ')}`).toBeLessThanOrEqual(1.2 * LIMIT);
      }
      // Each instance finds out once, and no later than this.
      expect(slowestMs).toBeLessThan(5 * PATIENT_MS);
      expect(lines).toHaveLength(2 * instances.length);
      // Where in a script Redis failed says nothing to an operator.
      expect(lines.join()).not.toMatch(/[0-9a-f]{40}/);
      // One connection each, and the one that asks.
      await expect
        .poll(() => server.command('CLIENT', 'LIST').split('\n').length, BACK_WITHIN)
        .toBe(instances.length + 1);
    },
  );

  it('is late once, requests wait for it, are counted there, and nothing tells of an outage', async () => {
    const { server, instances } = await together(2);
    const [one, other] = instances as [Instance, Instance];
    await send(instances, 'a', 10);
    server.command('CLIENT', 'PAUSE', String(1.5 * PATIENT_MS), 'ALL');
    const began = performance.now();
    const verdicts = await Promise.all(Array.from({ length: 10 }, () => one.store.take(requestOf('a'), NOW)));
    expect(performance.now() - began).toBeGreaterThan(PATIENT_MS);
    expect(verdicts.map(({ windows }) => windows[0]?.used)).toEqual(
      Array.from({ length: 10 }, (_, at) => 11 + at),
    );
    expect(await usedOf(other, 'a')).toBe(20);
    for (const { metric } of instances) expect(await metric('changes_total{to="alone"}')).toBe(0);
  });

  it('is flushed, counts and bans go on as they were, without an outage', async () => {
    const { server, instances } = await together(2);
    const [one, other] = instances as [Instance, Instance];
    const admitted = (await send(instances, 'a', LIMIT / 2)).admitted;
    server.command('FLUSHALL');
    expect(admitted + (await send(instances, 'a', 2 * LIMIT)).admitted).toBeLessThanOrEqual(1.2 * LIMIT);
    // Of a client that only one instance knows, the other learns with that one's next request or heartbeat.
    await send([one], 'b', LIMIT / 2);
    server.command('FLUSHALL');
    await send([one], 'a', 1);
    await expect.poll(() => usedOf(other, 'b'), BACK_WITHIN).toBe(LIMIT / 2);
    server.command('FLUSHALL');
    await expect.poll(() => usedOf(other, 'b'), BACK_WITHIN).toBe(LIMIT / 2);
    for (const { metric } of instances) expect(await metric('changes_total{to="alone"}')).toBe(0);
  });

  it('returns empty, an instance that knew nothing of a client learns what the others admitted', async () => {
    const { server, instances } = await together(2);
    const [one, other] = instances as [Instance, Instance];
    await send([one], 'a', LIMIT / 2);
    await kill(server, instances);
    // All that is left is a half for each of two.
    expect((await send([one], 'a', LIMIT)).admitted).toBe(LIMIT / 4);
    await server.start();
    await untilUp(instances);
    expect(await usedOf(other, 'a')).toBe((LIMIT * 3) / 4);
    expect((await send([other], 'a', LIMIT)).admitted).toBe(LIMIT / 4);
  });

  it('fails and all of a client’s requests go to those that knew nothing of it, 2 - 1/instances is the worst', async () => {
    const { server, instances } = await together(3);
    const [one, ...others] = instances as [Instance, Instance, Instance];
    let { admitted } = await send([one], 'a', 2 * LIMIT);
    expect(admitted).toBe(LIMIT);
    await kill(server, instances);
    admitted += (await send(others, 'a', 2 * LIMIT)).admitted;
    await server.start();
    await untilUp(instances);
    admitted += (await send(instances, 'a', 2 * LIMIT)).admitted;
    expect(admitted).toBeLessThanOrEqual((2 - 1 / 3) * LIMIT);
  });

  it('returns empty and the only instance that knew a client does not, 2 is the worst', async () => {
    const { server, instances } = await together(3);
    const [one, ...others] = instances as [Instance, Instance, Instance];
    let { admitted } = await send([one], 'a', 2 * LIMIT);
    await kill(server, instances);
    await one.store.onModuleDestroy();
    admitted += (await send(others, 'a', 2 * LIMIT)).admitted;
    await server.start();
    await untilUp(others);
    admitted += (await send(others, 'a', 2 * LIMIT)).admitted;
    expect(admitted).toBeLessThanOrEqual(2 * LIMIT);
  });

  it('fails, a ban goes on; and when it returns empty, in every instance', async () => {
    const { server, instances } = await together(2);
    const [one, other] = instances as [Instance, Instance];
    await send([one], 'a', LIMIT);
    let now = NOW;
    const take = (instance: Instance) => instance.store.take(requestOf('a'), now);
    let until: number | undefined;
    for (; until === undefined; now += 1_000) until = (await take(one)).bannedUntil;
    await kill(server, instances);
    expect((await take(one)).bannedUntil).toBe(until);
    now += MINUTE_MS;
    expect(await take(one)).toMatchObject({ admitted: false, bannedUntil: until });
    await server.start();
    await untilUp(instances);
    expect(await take(other)).toMatchObject({ admitted: false, bannedUntil: until });
    now = until;
    expect((await take(other)).admitted).toBe(true);
    expect((await take(one)).admitted).toBe(true);
  });

  it('is away and a ban begins in one instance, it holds in the others when Redis is back', async () => {
    const { server, instances } = await together(2);
    const [one, other] = instances as [Instance, Instance];
    await kill(server, instances);
    let now = NOW;
    const take = (instance: Instance) => instance.store.take(requestOf('a'), now);
    await send([one], 'a', LIMIT);
    let until: number | undefined;
    for (; until === undefined; now += 1_000) until = (await take(one)).bannedUntil;
    await server.start();
    await untilUp(instances);
    expect((await take(other)).bannedUntil).toBe(until);
  });

  it('fails and returns with what it had, a ban that was lifted before does not begin again', async () => {
    const { server, instances } = await together(2, '--appendonly', 'yes', '--appendfsync', 'always');
    const [one, other] = instances as [Instance, Instance];
    await send([one], 'a', LIMIT);
    let now = NOW;
    const take = (instance: Instance) => instance.store.take(requestOf('a'), now);
    for (; (await take(other)).bannedUntil === undefined; now += 1_000);
    await one.store.unban('a-key', 'client:a', now);
    await kill(server, instances);
    await server.start();
    await untilUp(instances);
    now += MINUTE_MS;
    expect((await take(one)).bannedUntil).toBeUndefined();
    expect((await take(other)).bannedUntil).toBeUndefined();
  });

  it('fails twice in a minute, what an instance admitted alone is handed over once', async () => {
    const { server, instances } = await together(2, '--appendonly', 'yes', '--appendfsync', 'always');
    let { admitted } = await send(instances, 'a', LIMIT / 4);
    for (let outage = 0; outage < 2; outage += 1) {
      await kill(server, instances);
      admitted += (await send(instances, 'a', LIMIT / 8)).admitted;
      await server.start();
      await untilUp(instances);
      expect(await usedOf(instances[0] as Instance, 'a')).toBe(admitted);
    }
    expect(admitted).toBe(LIMIT / 2);
  });

  it('keeps the end of a long ban that was handed over', async () => {
    const redis = connected(await RedisServer.ofTest());
    const store = new RedisQuotaStore(redis, new RedisKeys('test:'), new SystemClock());
    const until = NOW + 80_000_000;
    await store.handOver([], [['a-key', { subject: requestOf('a').subject, until, bans: 4, isOwn: false }]]);
    expect(await store.take(requestOf('a'), NOW)).toMatchObject({ admitted: false, bannedUntil: until });
  });

  it('counts once what was handed over when its answer was lost, and all of it again when it was flushed', async () => {
    const server = await RedisServer.ofTest();
    const redis = connected(server);
    const store = new RedisQuotaStore(redis, new RedisKeys('test:'), new SystemClock());
    const used = async () => (await store.peek(requestOf('a'), NOW)).windows[0]?.used;
    const [count] = new KnownCounts(BAN_RULES).of(requestOf('a'), NOW) as [KnownCount];
    count.alone = 30;
    await store.handOver([{ ...count }], []);
    count.alone = 40;
    await store.handOver([count], []);
    await store.handOver([count], []);
    expect(await used()).toBe(40);
    expect(count).toMatchObject({ seen: 40, alone: 40, handedOver: 40 });
    // Another instance has admitted more in the meantime.
    for (let times = 0; times < 5; times += 1) await store.take(requestOf('a'), NOW);
    count.alone = 41;
    await store.handOver([{ ...count }], []);
    server.command('FLUSHALL');
    await store.handOver([count], []);
    expect(await used()).toBe(41);
  });

  it('refuses what a cluster refuses, the instances count alone and go on asking', async () => {
    const server = await RedisServer.ofTest('--cluster-enabled', 'yes');
    const lines = listen();
    const instance = await open(server.url);
    expect((await send([instance], 'a', 2 * LIMIT)).admitted).toBe(LIMIT);
    expect(lines).toEqual([expect.stringContaining('CLUSTERDOWN')]);
  });

  it('is flushed and all of a client’s requests go to another instance, 2 is the worst', async () => {
    const { server, instances } = await together(2);
    const [one, other] = instances as [Instance, Instance];
    let { admitted } = await send([one], 'a', LIMIT);
    server.command('FLUSHALL');
    admitted += (await send([other], 'a', 2 * LIMIT)).admitted;
    expect(admitted).toBeLessThanOrEqual(2 * LIMIT);
    await expect.poll(async () => (await send([other], 'b', 1), usedOf(one, 'a')), BACK_WITHIN).toBe(LIMIT);
    expect((await send(instances, 'a', LIMIT)).admitted).toBe(0);
  });

  it('is away while instances start, each admits the whole limit until it comes', async () => {
    const server = await RedisServer.ofTest();
    await server.kill();
    const instances = [await open(server.url), await open(server.url)];
    const { admitted } = await send(instances, 'a', 4 * LIMIT);
    expect(admitted).toBe(2 * LIMIT);
    await server.start();
    await untilUp(instances);
    expect((await send(instances, 'a', LIMIT)).admitted).toBe(0);
  });

  it.each([
    ['asks for a password that was not given', '//', 'NOAUTH'],
    ['asks for another password', '//:wrong@', 'WRONGPASS'],
  ])('%s at the start, one line says so and another when it is put right', async (_, credentials, why) => {
    const server = await RedisServer.ofTest('--requirepass', 'right');
    const lines = listen();
    const instance = await open(server.url.replace('//', credentials));
    expect(lines).toEqual([expect.stringContaining(why)]);
    expect((await send([instance], 'a', 1)).admitted).toBe(1);
    // The password that we send, or none at all.
    server.command('-a', 'right', 'CONFIG', 'SET', 'requirepass', credentials === '//' ? '' : 'wrong');
    await untilUp([instance]);
    expect(lines.slice(1)).toEqual(['Quotas are counted in Redis']);
    expect(lines.join()).not.toContain('wrong');
  });

  it('fails one instance alone, 1 + 1/instances is the worst', async () => {
    const server = await RedisServer.ofTest();
    server.command('ACL', 'SETUSER', 'cut', 'on', '>secret', '~*', '&*', '+@all');
    const cut = await open(server.url.replace('//', '//cut:secret@'));
    const other = await open(server.url);
    await untilKnown([cut, other]);
    server.command('ACL', 'SETUSER', 'cut', 'off');
    server.command('CLIENT', 'KILL', 'USER', 'cut');
    let { admitted } = await send([cut], 'a', 2 * LIMIT);
    expect(admitted).toBe(LIMIT / 2);
    admitted += (await send([other], 'a', 2 * LIMIT)).admitted;
    server.command('ACL', 'SETUSER', 'cut', 'on');
    await untilUp([cut, other]);
    admitted += (await send([cut, other], 'a', 2 * LIMIT)).admitted;
    expect(admitted).toBe(1.5 * LIMIT);
  });

  it.each([
    ['stands still for 100 ms together with this process, as with the machine of both,', 100, true],
    ['has answered while this process was busy for 45 ms,', 45, false],
    ['has answered while this process was busy for 100 ms,', 100, false],
  ])('%s it is not too slow', async (_, ms, isStill) => {
    const { server, store } = await impatient();
    for (let round = 1; round <= 5; round += 1) {
      if (isStill) server.signal('SIGSTOP');
      const verdict = store.take(requestOf('a'), NOW);
      await setImmediate();
      const until = performance.now() + ms;
      // The command has been sent. Redis answers commands in order: when it has answered this one, which this process
      // waits for without reading anything else, the decision lies in the socket.
      if (!isStill) server.command('PING');
      while (performance.now() < until);
      if (isStill) server.signal('SIGCONT');
      expect((await verdict).windows[0]?.used).toBe(round);
    }
  });
});

describeWith('redis-server', 'the number of instances', () => {
  it('is not made larger by the command line, which uses the same Redis', async () => {
    const server = await RedisServer.ofTest();
    const ran = petstore(await folderOfTest(), ['client', 'list'], { REDIS_URL: server.url });
    expect((await ran).code).toBe(0);
    const used = server.command('INFO', 'commandstats');
    expect(used).toContain('cmdstat_eval');
    expect(used).not.toContain('cmdstat_zadd');
  });

  it('is kept for 15 seconds when it falls, also after an outage', async () => {
    const server = await RedisServer.ofTest();
    const redis = connected(server);
    let now = 1_000_000;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const keys = new RedisKeys('test:');
    const [one, other, waiting] = [
      new InstanceCount(redis, keys, new Metrics(), new SystemClock()),
      new InstanceCount(redis, keys, new Metrics(), new SystemClock()),
      new InstanceCount(redis, keys, new Metrics(), new SystemClock()),
    ];
    one.join();
    other.join();
    expect(await other.beat()).toEqual({ isNew: true });
    // The command line is none.
    expect(await waiting.beat()).toEqual({ isNew: false });
    await one.beat();
    expect([one.number, waiting.number]).toEqual([2, 1]);
    expect([one.dataName, waiting.dataName]).toEqual([other.dataName, other.dataName]);
    expect(await one.beat()).toEqual({ isNew: false });
    now += 10_000;
    await one.beat();
    await other.leave();
    // Not for 15 seconds from when it was seen first, but last.
    now += 10_000;
    await one.beat();
    expect([one.number, server.command('ZCARD', 'test:instances')]).toEqual([2, '1']);
    // An outage in which everything that Redis knew was lost.
    now += 3_600_000;
    server.command('FLUSHALL');
    one.keep();
    const { dataName } = other;
    expect(await one.beat()).toEqual({ isNew: true });
    expect([one.dataName, server.command('GET', 'test:data')]).toEqual([dataName, dataName]);
    now += 14_999;
    await one.beat();
    expect(one.number).toBe(2);
    now += 1;
    await one.beat();
    expect(one.number).toBe(1);
    await other.beat();
    await one.beat();
    expect(one.number).toBe(2);
  });
});
