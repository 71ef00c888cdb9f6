// The quota engine alongside its peers, in one run: `npm run bench:limiter`. Everything is measured in child processes
// of its own, in turn and several times; quote the ratios, machines are noisy.
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
/** Time that one measurement of nanoseconds takes at least, in milliseconds. */
const MEASURED_MS = 1_000;
/** Decisions under way at once over Redis, as those of as many requests are. */
const IN_FLIGHT = 64;

/** Limiters in this process: each decides a request of a client. Ours decides both windows and the ban. */
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

/** Nanoseconds per decision with the given number of clients, each seen before. */
async function speed(name, count) {
  const clients = clientsOf(Number(count));
  const decide = await inProcess(name);
  // Peers return promises, which are awaited as a guard would; ours returns a value.
  const settle = name !== 'ours';
  for (const client of clients) {
    const decision = decide(client);
    if (settle) await decision;
  }
  let decisions = 0;
  let elapsed = 0;
  do {
    // Names as a request brings them: made just now, of clients in no order. Making them is not measured.
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

/** Bytes per client, keys included, after each was seen once. */
async function memory(name, count) {
  const decide = await inProcess(name);
  await decide('warm up');
  const before = used();
  for (let index = 0; index < Number(count); index += 1) {
    const decision = decide(`client:${randomUUID()}`);
    if (name !== 'ours') await decision;
  }
  const bytes = (used() - before) / Number(count);
  // Used once more, so that what it keeps was not collected as garbage.
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

/** 10 million decisions over 1 million clients; memory before, at the end, and after the windows have passed. */
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
      // Seven seconds a round: the minute turns under way.
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

/** A request of a client as the service asks its store. */
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

/** Bytes in use on the heap and alongside it, after collecting what is not. */
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

/** The median of each peer over rounds in which all take turns. */
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
  console.log('Ours decides minute, day and ban of a request at once; each peer decides one window.\n');
  for (const count of [1, 10_000, 1_000_000]) {
    // Throttler's own storage walks a list of all hits of a key at every hit.
    const medians = inTurn(PEERS, ROUNDS, (peer) => measure('speed', peer, count).ns);
    rows.push(row(`in process, ${count.toLocaleString('en')} clients`, medians, 'ns', true));
  }
  const bytes = inTurn(PEERS, 1, (peer) => measure('memory', peer, 1_000_000).bytes);
  rows.push(row('in process, memory', bytes, 'bytes/client', true));
  try {
    const perSecond = inTurn(REDIS_PEERS, ROUNDS, (peer) => measure('redis', peer).perSecond);
    rows.push(row('over Redis, one connection', perSecond, '/s', false));
  } catch (error) {
    console.log(`over Redis: skipped, ${REDIS_URL} does not answer (${error.message.split('\n')[0]})`);
  }
  const { before, peak, after } = measure('soak');
  const mib = (value) => `${(value / 2 ** 20).toFixed(1)} MiB`;
  console.log(
    `\n10 million decisions over 1 million clients: ${mib(before)} before, ${mib(peak)} at most, ${mib(after)} after the windows`,
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
