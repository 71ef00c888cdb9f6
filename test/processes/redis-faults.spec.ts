import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { expect, it, onTestFinished, vi } from 'vitest';
import { SystemClock } from '../../src/core/time/clock.js';
import { Metrics } from '../../src/core/metrics/metrics.js';
import { MemoryQuotaStore } from '../../src/throttling/memory/memory-quota-store.js';
import { DAY_MS, MINUTE_MS } from '../../src/core/time/duration.js';
import type { QuotaRequest } from '../../src/throttling/quota.js';
import { ResilientQuotaStore } from '../../src/throttling/redis/resilient-quota-store.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { folderOfTest, petstore } from '../support/service-process.js';

const NOW = Date.UTC(2026, 10, 20, 12, 0, 10);
const LIMIT = 400;
/** What Redis may take to answer here, in milliseconds: a busy machine is not a failure that the test causes. */
const PATIENT_MS = 1_000;
/** Maximum pause between two attempts to come back, and time for a machine that is busy, in milliseconds. */
const BACK_WITHIN = { timeout: 60_000, interval: 20 };
/** A Redis that loses nothing when it is killed. */
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];

/** A clock whose steady time a test may stop and move. */
class StoppedClock extends SystemClock {
  stoppedAt: number | undefined;

  override steady(): number {
    return this.stoppedAt ?? super.steady();
  }
}

interface Instance {
  readonly store: ResilientQuotaStore;
  readonly clock: StoppedClock;
  /** The value of a metric of it. */
  readonly metric: (name: string) => Promise<number>;
}

async function open(url: string): Promise<Instance> {
  const metrics = new Metrics();
  const settings = { location: { url, ca: null }, prefix: 'test:', limitMs: PATIENT_MS };
  const clock = new StoppedClock();
  const store = await ResilientQuotaStore.open(settings, new MemoryQuotaStore(clock), metrics, clock);
  store.join();
  onTestFinished(() => store.onModuleDestroy());
  const metric = async (name: string) => {
    const { text } = await metrics.exposition();
    return Number(new RegExp(`^petstore_quota_redis_${name} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
  };
  return { store, clock, metric };
}

/** A Redis of its own, and the given number of instances that know of each other. */
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

async function untilAlone(instances: readonly Instance[]): Promise<void> {
  for (const { metric } of instances) await expect.poll(() => metric('up'), BACK_WITHIN).toBe(0);
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
  await untilAlone(instances);
}

async function restart(server: RedisServer, instances: readonly Instance[]): Promise<void> {
  await server.start();
  await untilUp(instances);
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

/** Sends requests to the instances in turn; returns how many were admitted, and how long the slowest took in ms. */
async function send(instances: readonly Instance[], client: string, times: number, now = NOW) {
  let admitted = 0;
  let slowestMs = 0;
  for (let sent = 0; sent < times; sent += 1) {
    const startedAt = performance.now();
    const { store } = instances[sent % instances.length] as Instance;
    if ((await store.take(requestOf(client), now)).admitted) admitted += 1;
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
  }
  return { admitted, slowestMs };
}

/** Sends enough requests to each instance to use up what it admits; returns how many times the limit was admitted. */
async function useUp(instances: readonly Instance[], client = 'a'): Promise<number> {
  return (await send(instances, client, 2 * LIMIT * instances.length)).admitted / LIMIT;
}

/** Is refused once a second until the key is banned; returns when that was and when the ban ends. */
async function earnBan({ store }: Instance, client: string) {
  await send([{ store } as Instance], client, LIMIT);
  for (let now = NOW; ; now += 1_000) {
    const { bannedUntil } = await store.take(requestOf(client), now);
    if (bannedUntil !== undefined) return { now, until: bannedUntil };
  }
}

/** What the instances log. */
function listen(): string[] {
  const lines: string[] = [];
  for (const level of ['log', 'warn', 'error'] as const)
    vi.spyOn(Logger.prototype, level).mockImplementation((line: unknown) => void lines.push(String(line)));
  return lines;
}

interface Fault {
  readonly name: string;
  readonly options?: readonly string[];
  /** Whether it loses its data. */
  readonly forgets?: true;
  readonly start: (server: RedisServer) => unknown;
  readonly end: (server: RedisServer) => unknown;
}

const FAULTS: readonly Fault[] = [
  {
    name: 'is killed and returns empty',
    forgets: true,
    start: (server) => server.kill(),
    end: (server) => server.start(),
  },
  {
    name: 'is killed and returns with what it had',
    options: ['--appendonly', 'yes'],
    start: (server) => server.kill(),
    end: (server) => server.start(),
  },
  {
    name: 'stands still and goes on',
    start: (server) => server.signal('SIGSTOP'),
    end: (server) => server.signal('SIGCONT'),
  },
  {
    name: 'is full',
    start: (server) => server.command('CONFIG', 'SET', 'maxmemory', '1'),
    end: (server) => server.command('CONFIG', 'SET', 'maxmemory', '0'),
  },
  {
    name: 'becomes a replica',
    start: (server) => server.command('REPLICAOF', '127.0.0.1', '1'),
    end: (server) => server.command('REPLICAOF', 'NO', 'ONE'),
  },
  {
    name: 'asks for another password',
    start: (server) => {
      server.command('CONFIG', 'SET', 'requirepass', 'other');
      server.command('-a', 'other', 'CLIENT', 'KILL', 'TYPE', 'normal');
    },
    end: (server) => server.command('-a', 'other', 'CONFIG', 'SET', 'requirepass', ''),
  },
  {
    name: 'no longer lets us write',
    start: (server) => server.command('ACL', 'SETUSER', 'default', '-@write'),
    end: (server) => server.command('ACL', 'SETUSER', 'default', '+@write'),
  },
  {
    name: 'cannot save',
    start: async (server) => {
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

/** How often Redis comes and goes in one window: for less than the two minutes that a count of a minute is kept. */
const OUTAGES = process.env['PETSTORE_TEST_WHOLE'] === undefined ? 3 : 10;

describeWith('redis-server', 'when Redis', () => {
  it.each(FAULTS)(
    '$name, no more than the bound is admitted, no request waits, and two lines are logged',
    async ({ start, end, forgets, options = [] }) => {
      const { server, instances } = await together(2, ...options);
      const lines = listen();
      const attempts = vi.spyOn(Redis.prototype, 'connect');
      const clients = [
        { name: 'fresh', used: 0 },
        { name: 'half', used: LIMIT / 2 },
        { name: 'full', used: LIMIT },
      ];
      for (const { name, used } of clients) expect((await send(instances, name, used)).admitted).toBe(used);
      await start(server);
      let slowestMs = 0;
      for (const client of clients) {
        const during = await send(instances, client.name, 2 * LIMIT);
        expect(during.admitted).toBeLessThanOrEqual(LIMIT);
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
        expect(admitted, `${name}: ${lines.join('; ')}`).toBeLessThanOrEqual((forgets ? 3 : 2) * LIMIT);
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
      // All are still known, however many have come back.
      for (const { metric } of instances) expect(await metric('instances')).toBe(instances.length);
    },
  );

  it('refuses what a cluster refuses, the instances count alone and go on asking', async () => {
    const server = await RedisServer.ofTest('--cluster-enabled', 'yes');
    const lines = listen();
    const instance = await open(server.url);
    expect((await send([instance], 'a', 2 * LIMIT)).admitted).toBe(LIMIT);
    expect(lines).toEqual([expect.stringContaining('CLUSTERDOWN')]);
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
});

describeWith('redis-server', 'a client gets this multiple of its limit in a window:', () => {
  it('2 if Redis fails and returns with its data, for requests to any instances', async () => {
    const { server, instances } = await together(3, ...DURABLE);
    const [one] = instances as [Instance];
    let times = await useUp([one], 'a');
    await kill(server, instances);
    // The share of one of three.
    expect(await useUp([one], 'b')).toBe(Math.floor(LIMIT / 3) / LIMIT);
    times += await useUp(instances, 'a');
    await restart(server, instances);
    times += await useUp(instances, 'a');
    expect(times).toBeGreaterThan(1.9);
    expect(times).toBeLessThanOrEqual(2);
  });

  it('1 more for each time that Redis loses its data', async () => {
    const { server, instances } = await together(2);
    let times = await useUp(instances);
    server.command('FLUSHALL');
    times += await useUp(instances);
    expect(times).toBe(2);
    for (const { metric } of instances) expect(await metric('changes_total{to="alone"}')).toBe(0);
    await kill(server, instances);
    times += await useUp(instances);
    await restart(server, instances);
    times += await useUp(instances);
    expect(times).toBe(4);
  });

  it('2 where Redis comes and goes: what was counted alone stays counted', async () => {
    const { server, instances } = await together(2, ...DURABLE);
    let times = 0;
    for (let outage = 0; outage < OUTAGES; outage += 1) {
      times += await useUp(instances);
      await kill(server, instances);
      times += await useUp(instances);
      await restart(server, instances);
    }
    expect(times + (await useUp(instances))).toBe(2);
  });

  it('1 + 1/instances where Redis fails one instance alone', async () => {
    const server = await RedisServer.ofTest();
    server.command('ACL', 'SETUSER', 'cut', 'on', '>secret', '~*', '&*', '+@all');
    const cut = await open(server.url.replace('//', '//cut:secret@'));
    const other = await open(server.url);
    await untilKnown([cut, other]);
    server.command('ACL', 'SETUSER', 'cut', 'off');
    server.command('CLIENT', 'KILL', 'USER', 'cut');
    let times = await useUp([cut]);
    expect(times).toBe(0.5);
    times += await useUp([other]);
    server.command('ACL', 'SETUSER', 'cut', 'on');
    await untilUp([cut, other]);
    expect(times + (await useUp([cut, other]))).toBe(1.5);
  });

  it('as many as instances start while Redis is away, and 1 more when it comes', async () => {
    const server = await RedisServer.ofTest();
    await server.kill();
    const instances = [await open(server.url), await open(server.url)];
    expect(await useUp(instances)).toBe(2);
    await restart(server, instances);
    expect(await useUp(instances)).toBe(1);
  });
});

describeWith('redis-server', 'a ban', () => {
  const bannedUntil = async ({ store }: Instance, client: string, now: number) => {
    const { bannedUntil: peeked } = await store.peek(requestOf(client), now);
    expect((await store.take(requestOf(client), now)).bannedUntil).toBe(peeked);
    return peeked;
  };

  it('holds in the instances that have seen it while Redis is away, and again in all with its data', async () => {
    const { server, instances } = await together(2, ...DURABLE);
    const [one, other] = instances as [Instance, Instance];
    const { now, until } = await earnBan(one, 'a');
    await kill(server, instances);
    expect(await bannedUntil(one, 'a', now + MINUTE_MS)).toBe(until);
    expect(await bannedUntil(other, 'a', now + MINUTE_MS)).toBeUndefined();
    expect(await bannedUntil(one, 'a', until)).toBeUndefined();
    await restart(server, instances);
    for (const instance of instances) expect(await bannedUntil(instance, 'a', now + MINUTE_MS)).toBe(until);
  });

  it('is not carried into a Redis that has lost it', async () => {
    const { server, instances } = await together(2);
    const [one] = instances as [Instance];
    const { now } = await earnBan(one, 'a');
    await kill(server, instances);
    await restart(server, instances);
    for (const instance of instances)
      expect(await bannedUntil(instance, 'a', now + MINUTE_MS)).toBeUndefined();
  });

  it('that was lifted does not start again', async () => {
    const { server, instances } = await together(2, ...DURABLE);
    const [one, other] = instances as [Instance, Instance];
    const { now } = await earnBan(other, 'a');
    await one.store.unban('a-key', 'client:a', now);
    await kill(server, instances);
    await expect(one.store.unban('a-key', 'client:a', now)).rejects.toThrow('Redis is unavailable');
    await restart(server, instances);
    for (const instance of instances)
      expect(await bannedUntil(instance, 'a', now + MINUTE_MS)).toBeUndefined();
  });

  it('does not come of refusals by a share', async () => {
    const { server, instances } = await together(2, ...DURABLE);
    const [one] = instances as [Instance];
    await kill(server, instances);
    await send([one], 'a', LIMIT);
    for (let second = 0; second < 40; second += 1) {
      const { admitted, bannedUntil: until } = await one.store.take(requestOf('a'), NOW + second * 1_000);
      expect([admitted, until]).toEqual([false, undefined]);
    }
    await restart(server, instances);
    expect(server.command('KEYS', '*:key:a-key')).toBe('');
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

  it('falls after 15 seconds of unbroken heartbeats', async () => {
    const { server, instances } = await together(3, ...DURABLE);
    const [one, other, third] = instances as [Instance, Instance, Instance];
    const rest = [one, other];
    const beats = () => server.command('INFO', 'commandstats').match(/cmdstat_zadd:calls=(\d+)/)?.[1];
    const untilBeaten = async () => {
      const before = Number(beats() ?? 0);
      await expect.poll(() => Number(beats() ?? 0), BACK_WITHIN).toBeGreaterThan(before + 2 * rest.length);
    };
    const numbers = () => Promise.all(rest.map(({ metric }) => metric('instances')));
    const at = (seconds: number) => {
      for (const { clock } of rest) clock.stoppedAt = seconds * 1_000;
    };
    at(1_000_000);
    await untilBeaten();
    await third.store.onModuleDestroy();
    expect(server.command('ZCARD', 'test:beats')).toBe('2');
    at(1_000_014);
    await untilBeaten();
    expect(await numbers()).toEqual([3, 3]);
    // An outage breaks them.
    await kill(server, rest);
    await restart(server, rest);
    at(1_000_028);
    await untilBeaten();
    expect(await numbers()).toEqual([3, 3]);
    at(1_000_029);
    await expect.poll(numbers, BACK_WITHIN).toEqual([2, 2]);
  });
});
