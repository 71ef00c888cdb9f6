import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { SystemClock } from '../../src/core/time/clock.js';
import { Metrics } from '../../src/core/metrics/metrics.js';
import { MINUTE_MS } from '../../src/core/time/duration.js';
import { MemoryQuotaStore } from '../../src/throttling/memory/memory-quota-store.js';
import type { QuotaRequest } from '../../src/throttling/quota.js';
import { checkRedis } from '../../src/throttling/redis/check-redis.js';
import { waitForOlderBuilds } from '../../src/throttling/redis/older-builds.js';
import type { RedisLocation } from '../../src/throttling/redis/redis-client.js';
import { ResilientQuotaStore } from '../../src/throttling/redis/resilient-quota-store.js';
import { makeCertificates } from '../support/certificates.js';
import { freePort } from '../support/free-port.js';
import { NetworkProxy } from '../support/network-proxy.js';
import { RedisClusterServers } from '../support/redis-groups.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';

const LIMIT_MS = 500;
/** Within this time all must have an end, also on a machine that is busy, in milliseconds. */
const WITHIN_MS = 8_000;
const BACK_WITHIN = { timeout: 60_000, interval: 50 };

const REQUEST: QuotaRequest = {
  subject: 'client:a',
  isClient: true,
  keyId: 'key',
  windows: [{ key: 'client:a', name: 'minute', limit: 1_000_000, lengthMs: MINUTE_MS }],
};

async function open(location: RedisLocation): Promise<ResilientQuotaStore> {
  const clock = new SystemClock();
  const settings = { location, prefix: 'test:', limitMs: LIMIT_MS };
  const store = await ResilientQuotaStore.open(settings, new MemoryQuotaStore(clock), new Metrics(), clock);
  store.join();
  onTestFinished(() => store.onModuleDestroy());
  return store;
}

const isUp = (store: ResilientQuotaStore) => () => store.countsIn !== undefined;

/** How it ends, which must be soon. */
async function outcome(work: Promise<unknown>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('never'), WITHIN_MS);
  });
  const ended = work.then(
    () => 'done',
    (error: Error) => error.message,
  );
  return Promise.race([ended, late]).finally(() => clearTimeout(timer));
}

describeWith('redis-server', 'nothing waits forever for Redis', () => {
  let redis: RedisServer;
  let proxy: NetworkProxy;
  let tls: NetworkProxy;
  let sentinel: RedisServer;
  let sentinelProxy: NetworkProxy;
  let certificates: string;

  beforeAll(async () => {
    const tlsPort = await freePort();
    certificates = await makeCertificates();
    const file = (name: string) => join(certificates, name);
    const options =
      `--tls-port ${tlsPort} --tls-auth-clients no --tls-ca-cert-file ${file('ca.crt')} ` +
      `--tls-cert-file ${file('server.crt')} --tls-key-file ${file('server.key')}`;
    redis = await RedisServer.start(...options.split(' '));
    [proxy, tls] = [await NetworkProxy.to(redis.port), await NetworkProxy.to(tlsPort)];
    sentinel = await RedisServer.startSentinel(`monitor shop 127.0.0.1 ${proxy.port} 1`);
    sentinelProxy = await NetworkProxy.to(sentinel.port);
  });
  afterAll(async () => {
    for (const one of [proxy, tls, sentinelProxy]) await one.close();
    for (const one of [redis, sentinel]) await one.remove();
    await rm(certificates, { recursive: true, force: true });
  });

  const WAYS: readonly (readonly [string, () => RedisLocation, () => readonly NetworkProxy[]])[] = [
    ['a server', () => ({ url: `redis://127.0.0.1:${proxy.port}`, ca: null }), () => [proxy]],
    [
      'a server with a database and a password',
      () => ({ url: `redis://:word@127.0.0.1:${proxy.port}/3`, ca: null }),
      () => [proxy],
    ],
    ['TLS', () => ({ url: `rediss://localhost:${tls.port}`, ca: join(certificates, 'ca.crt') }), () => [tls]],
    [
      'the master of a Sentinel',
      () => ({ url: `redis+sentinel://127.0.0.1:${sentinelProxy.port}/shop`, ca: null }),
      () => [proxy],
    ],
    [
      'a Sentinel',
      () => ({ url: `redis+sentinel://127.0.0.1:${sentinelProxy.port}/shop`, ca: null }),
      () => [proxy, sentinelProxy],
    ],
  ];

  describe.each(WAYS)('behind a network that swallows everything, to %s:', (_, location, proxies) => {
    const swallow = (swallows: boolean) => {
      for (const one of proxies()) one.swallows = swallows;
    };

    it('a quota, a ban that is lifted, and a stop', async () => {
      onTestFinished(() => swallow(false));
      const store = await open(location());
      await expect.poll(isUp(store), BACK_WITHIN).toBe(true);
      swallow(true);
      const requests = [
        store.take(REQUEST, Date.now()),
        store.peek(REQUEST, Date.now()),
        store.unban('key', 'client:a', Date.now()),
      ];
      expect(await Promise.all(requests.map(outcome))).toEqual([
        'done',
        'done',
        expect.stringContaining('the ban cannot be lifted while Redis is unavailable'),
      ]);
      expect(isUp(store)()).toBe(false);
      swallow(false);
      await expect.poll(isUp(store), BACK_WITHIN).toBe(true);
      swallow(true);
      expect(await outcome(store.onModuleDestroy())).toBe('done');
    });

    it('a start, the wait for older builds, and the doctor', async () => {
      onTestFinished(() => swallow(false));
      swallow(true);
      const opening = open(location());
      expect(await outcome(opening)).toBe('done');
      const store = await opening;
      expect(isUp(store)()).toBe(false);
      expect(await outcome(waitForOlderBuilds(location()))).toBe('done');
      expect(await outcome(checkRedis(location()))).not.toMatch(/^(?:done|never)$/);
    });

    it('connections that a firewall has forgotten', async () => {
      const store = await open(location());
      await expect.poll(isUp(store), BACK_WITHIN).toBe(true);
      for (const one of proxies()) one.forget();
      expect(await outcome(Promise.resolve(store.take(REQUEST, Date.now())))).toBe('done');
      await expect.poll(isUp(store), BACK_WITHIN).toBe(true);
      expect(await outcome(store.unban('key', 'client:a', Date.now()))).toBe('done');
    });
  });
});

describeWith('redis-server', 'a Redis Cluster whose slot is being moved', () => {
  it.each([
    ['hangs', 'SIGSTOP'],
    ['is dead', 'SIGKILL'],
  ] as const)('to a node that %s: requests are decided, and nothing else fails', async (_, signal) => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    const cluster = await RedisClusterServers.start();
    onTestFinished(() => cluster.remove());
    const store = await open({ url: cluster.url, ca: null });
    await expect.poll(isUp(store), BACK_WITHIN).toBe(true);
    const target = cluster.startMovingSlotOf('{:client:a}');
    target.signal(signal);
    onTestFinished(() => target.signal('SIGCONT'));
    for (let times = 0; times < 40; times += 1) {
      expect(await outcome(Promise.resolve(store.take(REQUEST, Date.now())))).toBe('done');
      await pause(50);
    }
    expect(unhandled).toEqual([]);
  });
});
