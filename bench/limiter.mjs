// Compares the quota engine with other rate limiters: `npm run bench:limiter`. Each measurement runs in a separate process, and the limiters
// take turns. Compare ratios rather than absolute figures.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from '../scripts/build-if-stale.mjs';

const SELF = fileURLToPath(import.meta.url);
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const REDIS_URL = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';
const ROUNDS = 3;
/** Minimum duration of a speed measurement, in milliseconds. */
const MEASURED_MS = 1_000;
/** Number of concurrent decisions over Redis, as if that many requests were in flight. */
const IN_FLIGHT = 64;

/** An in-memory limiter: a function that decides a request of a client. Ours checks both windows and the ban. */
async function inProcess(name) {
  if (name === 'ours') {
    const { MemoryQuotaStore } = await import('../dist/src/throttling/memory/memory-quota-store.js');
    const { SystemClock } = await import('../dist/src/core/time/clock.js');
    const store = new MemoryQuotaStore(new SystemClock());
    const now = Date.now();
    return (client) => store.take(requestOf(client, 1e9, 1e9), now);
  }
  if (name === 'rate-limiter-flexible') {
    const { RateLimiterMemory } = await import('rate-limiter-flexible');
    const limiter = new RateLimiterMemory({ points: 1e9, duration: 60 });
    return (client) => limiter.consume(client);
  }
  const { ThrottlerStorageService } = await import('@nestjs/throttler');
  const storage = new ThrottlerStorageService();
  return (client) => storage.increment(client, MINUTE_MS, 1e9, MINUTE_MS, 'minute');
}

const PEERS = ['ours', 'rate-limiter-flexible', '@nestjs/throttler'];

/** Nanoseconds per decision with the given number of clients, all of which are known. */
async function speed(name, count) {
  const clients = clientsOf(Number(count));
  const decide = await inProcess(name);
  // The other limiters return promises, which a guard would await. Ours returns a value.
  const settle = name !== 'ours';
  for (const client of clients) {
    const decision = decide(client);
    if (settle) await decision;
  }
  let decisions = 0;
  let elapsed = 0;
  do {
    // As with real requests, the names are new strings, and the clients are in random order. Creating the names is not measured.
    const batch = Array.from({ length: 1_000 }, () =>
      copyOf(clients[Math.floor(Math.random() * clients.length)]),
    );
    const startedAt = process.hrtime.bigint();
    for (const client of batch) {
      const decision = decide(client);
      if (settle) await decision;
    }
    elapsed += Number(process.hrtime.bigint() - startedAt);
    decisions += batch.length;
  } while (elapsed < MEASURED_MS * 1e6);
  process.nextTick(() => process.exit(0));
  return { ns: elapsed / decisions };
}

/** Bytes per client, including keys, after one request from each. */
async function memory(name, count) {
  const decide = await inProcess(name);
  await decide('warm up');
  const before = used();
  for (let index = 0; index < Number(count); index += 1) {
    const decision = decide(`client:${randomUUID()}`);
    if (name !== 'ours') await decision;
  }
  const bytes = (used() - before) / Number(count);
  // Keeps the limiter reachable, so that it is not garbage-collected before the measurement.
  await decide('the last');
  process.nextTick(() => process.exit(0));
  return { bytes };
}

/** Decisions per second over one connection to Redis. */
async function redis(name) {
  const { Redis } = await import('ioredis');
  const connection = new Redis(REDIS_URL);
  const prefix = `bench:${randomUUID().slice(0, 8)}:`;
  const decide = await overRedis(name, connection, prefix);
  const clients = clientsOf(10_000);
  let decisions = 0;
  let next = 0;
  const run = async (until) => {
    while (performance.now() < until) {
      await decide(clients[(next += 1) % clients.length]);
      decisions += 1;
    }
  };
  const flight = (ms) => {
    const until = performance.now() + ms;
    return Promise.all(Array.from({ length: IN_FLIGHT }, () => run(until)));
  };
  await flight(500);
  decisions = 0;
  await flight(2_000);
  const perSecond = decisions / 2;
  for (let cursor = '0', first = true; first || cursor !== '0'; first = false) {
    const [following, keys] = await connection.scan(cursor, 'MATCH', `*${prefix}*`, 'COUNT', 1_000);
    if (keys.length > 0) await connection.unlink(...keys);
    cursor = following;
  }
  connection.disconnect();
  return { perSecond };
}

async function overRedis(name, connection, prefix) {
  if (name === 'ours') {
    const { RedisQuotaStore } = await import('../dist/src/throttling/redis/redis-quota-store.js');
    const { RedisKeys } = await import('../dist/src/throttling/redis/redis-keys.js');
    const { SystemClock } = await import('../dist/src/core/time/clock.js');
    const store = new RedisQuotaStore(connection, new RedisKeys(prefix), new SystemClock());
    return (client) => store.take(requestOf(client, 1e9, 1e9), Date.now());
  }
  if (name === 'rate-limiter-flexible') {
    const { RateLimiterRedis } = await import('rate-limiter-flexible');
    const limiter = new RateLimiterRedis({
      storeClient: connection,
      points: 1e9,
      duration: 60,
      keyPrefix: prefix,
    });
    return (client) => limiter.consume(client);
  }
  const { ThrottlerStorageRedisService } = await import('@nest-lab/throttler-storage-redis');
  const storage = new ThrottlerStorageRedisService(connection);
  return (client) => storage.increment(prefix + client, MINUTE_MS, 1e9, MINUTE_MS, 'minute');
}

const REDIS_PEERS = ['ours', 'rate-limiter-flexible', '@nest-lab/throttler-storage-redis'];

/** 10 million decisions for 1 million clients. Returns the memory before, at the peak, and after the windows have ended. */
async function soak() {
  const { MemoryQuotaStore } = await import('../dist/src/throttling/memory/memory-quota-store.js');
  const { SystemClock } = await import('../dist/src/core/time/clock.js');
  const store = new MemoryQuotaStore(new SystemClock());
  const noon = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2;
  void store.take(requestOf('warm up', 60, 1_000), noon);
  const before = used();
  let peak = 0;
  for (let round = 0; round < 10; round += 1) {
    for (let client = 0; client < 1_000_000; client += 1) {
      // Each round takes seven seconds, so that a new minute begins during the run.
      void store.take(
        requestOf(`client:00000000-0000-4000-8000-${String(client).padStart(12, '0')}`, 60, 1_000),
        noon + round * 7_000,
      );
    }
    peak = Math.max(peak, used());
  }
  void store.take(requestOf('the next day', 60, 1_000), noon + DAY_MS);
  const after = used();
  return { before, peak, after };
}

/** A request of a client, in the form in which the service passes it to its quota store. */
function requestOf(client, perMinute, perDay) {
  return {
    subject: client,
    isClient: true,
    keyId: client,
    windows: [
      { key: client, name: 'minute', limit: perMinute, lengthMs: MINUTE_MS },
      { key: client, name: 'day', limit: perDay, lengthMs: DAY_MS },
    ],
  };
}

function clientsOf(count) {
  return Array.from({ length: count }, () => `client:${randomUUID()}`);
}

function copyOf(text) {
  return Buffer.from(text).toString();
}

/** Bytes in use on and outside the heap, after garbage collection. */
function used() {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function measure(...argv) {
  const output = execFileSync(
    process.execPath,
    ['--expose-gc', '--max-old-space-size=8192', SELF, ...argv.map(String)],
    {
      encoding: 'utf8',
    },
  );
  return JSON.parse(output.trim().split('\n').at(-1));
}

/** The median of a figure for each limiter, over several rounds. */
function inTurn(peers, rounds, figure) {
  const results = new Map(peers.map((peer) => [peer, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const peer of peers) results.get(peer).push(figure(peer));
  return new Map(
    [...results].map(([peer, values]) => [
      peer,
      values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)],
    ]),
  );
}

function row(title, medians, unit, betterIsLess) {
  const ours = medians.get('ours');
  const cells = [...medians].map(([peer, value]) => {
    const ratio = betterIsLess ? value / ours : ours / value;
    return `${peer} ${Math.round(value).toLocaleString('en')} ${unit}${peer === 'ours' ? '' : ` (ours ${ratio.toFixed(1)}× better)`}`;
  });
  console.log(`${title.padEnd(34)} ${cells.join(' | ')}`);
  return { title, unit, ...Object.fromEntries(medians) };
}

async function main() {
  buildIfStale();
  const rows = [];
  console.log('Our limiter checks the minute, the day and the ban; the others check one window.\n');
  for (const count of [1, 10_000, 1_000_000]) {
    // On each hit, the storage of @nestjs/throttler iterates over all hits of the key.
    const medians = inTurn(PEERS, ROUNDS, (peer) => measure('speed', peer, count).ns);
    rows.push(row(`in process, ${count.toLocaleString('en')} clients`, medians, 'ns', true));
  }
  const bytes = inTurn(PEERS, 1, (peer) => measure('memory', peer, 1_000_000).bytes);
  rows.push(row('in process, memory', bytes, 'bytes/client', true));
  try {
    const perSecond = inTurn(REDIS_PEERS, ROUNDS, (peer) => measure('redis', peer).perSecond);
    rows.push(row('over Redis, one connection', perSecond, '/s', false));
  } catch (error) {
    console.log(`over Redis: skipped, no response from ${REDIS_URL} (${error.message.split('\n')[0]})`);
  }
  const { before, peak, after } = measure('soak');
  const mib = (value) => `${(value / 2 ** 20).toFixed(1)} MiB`;
  console.log(
    `\n10 million decisions for 1 million clients: ${mib(before)} before, ${mib(peak)} at the peak, ${mib(after)} after the windows have ended`,
  );
  rows.push({ title: 'soak', unit: 'bytes', before, peak, after });
  writeFileSync(
    new URL('limiter-results.json', import.meta.url),
    `${JSON.stringify({ node: process.version, rows }, null, 2)}\n`,
  );
}

const [mode, ...args] = process.argv.slice(2);
if (mode === undefined) await main();
else console.log(JSON.stringify(await { speed, memory, redis, soak }[mode](...args)));
