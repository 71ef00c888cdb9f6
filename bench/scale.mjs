// How the counters grow with clients and split between regions: `npm run bench:scale`. Bytes of a client are measured in a Redis of
// its own; the rest is a simulation, the same at each run. docs/scale.md explains it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { buildIfStale } from '../scripts/build-if-stale.mjs';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Clients whose counters are made to measure what one takes. */
const MEASURED_CLIENTS = 200_000;
const CLIENTS = 100_000_000;
/** Requests of all clients in a second. */
const REQUESTS_PER_SECOND = 1_000_000;
/** How many times as often the n-th client asks as the first: n to the power of minus this. */
const SKEWS = [0.8, 1];
const SHARDS = [1, 16, 64, 256];

buildIfStale();
const bytes = await bytesOfClients();
console.log(
  `A client in Redis: ${bytes.minute} bytes for its minute, ${bytes.day} for its day (${MEASURED_CLIENTS} clients)\n`,
);
const rows = SKEWS.flatMap((skew) => clients(skew));
console.table(rows);
const split = splitRegions();
console.table(split);
writeFileSync(
  new URL('scale-results.json', import.meta.url),
  `${JSON.stringify({ bytes, clients: rows, regions: split }, null, 2)}\n`,
);

/** Memory of a Redis for each client, by the decisions of the service itself. */
async function bytesOfClients() {
  const { RedisQuotaStore } = await import('../dist/src/throttling/redis/redis-quota-store.js');
  const { RedisKeys } = await import('../dist/src/throttling/redis/redis-keys.js');
  const { SystemClock } = await import('../dist/src/core/time/clock.js');
  const port = await freePort();
  const server = spawn('redis-server', ['--port', String(port), '--save', '', '--appendonly', 'no'], {
    stdio: 'ignore',
  });
  const connection = new Redis(port);
  const used = async () => Number(/used_memory:(\d+)/.exec(await connection.info('memory'))[1]);
  const taken = async (lengths) => {
    await connection.flushall();
    const store = new RedisQuotaStore(connection, new RedisKeys('petstore:quota:'), new SystemClock());
    const before = await used();
    for (let from = 0; from < MEASURED_CLIENTS; from += 1_000)
      await Promise.all(
        Array.from({ length: 1_000 }, (_, at) => store.take(requestOf(from + at, lengths), Date.now())),
      );
    return ((await used()) - before) / MEASURED_CLIENTS;
  };
  try {
    // The minute that turns while it is measured would be counted twice.
    while (Date.now() % MINUTE_MS > 30_000) await pause(500);
    const [minute, both] = [await taken([MINUTE_MS]), await taken([MINUTE_MS, DAY_MS])];
    return { minute: Math.round(minute), day: Math.round(both - minute) };
  } finally {
    connection.disconnect();
    server.kill();
    await once(server, 'exit');
  }
}

function requestOf(client, lengths) {
  const subject = `client:00000000-0000-4000-8000-${String(client).padStart(12, '0')}`;
  const windows = lengths.map((lengthMs) => ({ key: subject, name: 'window', limit: 1e9, lengthMs }));
  return { subject, isClient: true, keyId: String(client), windows };
}

async function freePort() {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

/**
 * Clients whose requests follow a power law: how many of them have a counter of this minute and of this day, what that takes in all
 * and in the fullest shard, and how many times as many decisions the busiest shard makes as the mean.
 */
function clients(skew) {
  let sum = 0;
  for (let client = 1; client <= CLIENTS; client += 1) sum += client ** -skew;
  const most = Math.max(...SHARDS);
  const shard = Array.from({ length: 3 }, () => new Float64Array(most));
  const [decisions, inMinute, inDay] = shard;
  for (let client = 1; client <= CLIENTS; client += 1) {
    const perSecond = (REQUESTS_PER_SECOND * client ** -skew) / sum;
    const at = hashOf(client) % most;
    decisions[at] += perSecond;
    // At least one request of a Poisson process.
    inMinute[at] += -Math.expm1(-perSecond * 60);
    inDay[at] += -Math.expm1(-perSecond * 86_400);
  }
  return SHARDS.map((count) => {
    const [rate, minute, day] = shard.map((figures) => joined(figures, count));
    const gib = minute.map((some, at) => (some * bytes.minute + day[at] * bytes.day) / 2 ** 30);
    return {
      skew,
      shards: count,
      'clients in a minute': Math.round(total(minute)),
      'clients in a day': Math.round(total(day)),
      'GiB in all': round(total(gib)),
      'GiB of the fullest': round(Math.max(...gib)),
      'decisions/s of the busiest': Math.round(Math.max(...rate)),
      'busiest, × the mean': round((Math.max(...rate) * count) / total(rate)),
    };
  });
}

/** The figures of so many shards, each of several of the finest. */
function joined(figures, count) {
  const sums = Array.from({ length: count }, () => 0);
  for (const [at, figure] of figures.entries()) sums[at % count] += figure;
  return sums;
}

/**
 * One Redis in the first of several regions, and a client whose minute of 600 is asked for twice over; the others are cut off from it
 * at a random moment. An instance that is cut off admits its share of what was left when it last heard.
 */
function splitRegions() {
  const LIMIT = 600;
  const TRIALS = 2_000;
  const random = seeded(1);
  const found = [];
  for (const regions of [2, 3, 5])
    for (const [traffic, shareAtHome] of [
      ['even', 1 / regions],
      ['90 % in the first region', 0.9],
      ['90 % in one that is cut off', 0.1 / (regions - 1)],
    ]) {
      const admitted = Array.from({ length: TRIALS }, () =>
        admittedOf({ regions, instances: 4, limit: LIMIT, shareAtHome, random, traffic }),
      ).toSorted((a, b) => a - b);
      found.push({
        regions,
        'instances in each': 4,
        traffic,
        'median × the limit': round(admitted[TRIALS / 2] / LIMIT),
        '99 % at most': round(admitted[Math.floor(TRIALS * 0.99)] / LIMIT),
        bound: round(1 + (regions - 1) / regions),
      });
    }
  return found;
}

function admittedOf({ regions, instances, limit, shareAtHome, random, traffic }) {
  const all = regions * instances;
  const cutAt = random();
  const alone = Array.from({ length: all }, () => 0);
  const seen = Array.from({ length: all }, () => 0);
  let counted = 0;
  let admittedAlone = 0;
  for (let request = 0; request < 2 * limit; request += 1) {
    const region = regionOf(random(), regions, shareAtHome, traffic);
    const instance = region * instances + Math.floor(random() * instances);
    const isCutOff = region > 0 && request / (2 * limit) >= cutAt;
    if (!isCutOff) {
      if (counted < limit) counted += 1;
      seen[instance] = counted;
    } else if (alone[instance] < Math.ceil((limit - seen[instance]) / all)) {
      alone[instance] += 1;
      admittedAlone += 1;
    }
  }
  return counted + admittedAlone;
}

function regionOf(chance, regions, shareAtHome, traffic) {
  if (chance < shareAtHome) return 0;
  if (traffic.endsWith('cut off') && chance < shareAtHome + 0.9) return 1;
  return 1 + Math.floor(((chance - shareAtHome) / (1 - shareAtHome)) * (regions - 1));
}

/** A hash of 32 bits (the finalizer of MurmurHash3): clients' ids are random, these are not. */
function hashOf(number) {
  let hash = number ^ (number >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Numbers from 0 to 1 that are the same at each run (mulberry32). */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function total(figures) {
  return figures.reduce((sum, figure) => sum + figure, 0);
}

function round(figure) {
  return Math.round(figure * 100) / 100;
}
