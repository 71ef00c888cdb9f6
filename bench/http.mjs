// Compares the service, with all its features, with bare Express over HTTP: `npm run bench`. Each scenario runs on the servers in turn, in
// several rounds. Compare ratios rather than absolute figures. docs/performance.md explains the results.
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeCapacity } from './capacity-table.mjs';
import { line, measure, peer } from './measure.mjs';
import { overload } from './overload.mjs';
import { NUMBER } from './random-load.mjs';
import { makeStore, startService } from './running-service.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const ANIMALS = 100_000;
const PAGES = 300;
const REDIS_URL = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';
const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '15' },
    only: { type: 'string', default: '' },
  },
});
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);

if (!existsSync(join(HERE, 'node_modules/autocannon')))
  execFileSync('npm', ['ci'], { cwd: HERE, stdio: 'inherit' });
const { LOADER } = await import('./load.mjs');

/** Functions that start the other servers, each when the first scenario needs it. */
const STARTS = {
  express: () => peer(join(HERE, 'peers/express.mjs')),
  'service with Redis': () => startService(storeWithRedis, { REDIS_URL }),
};

if (options.only === 'postgres') {
  const { measurePostgres } = await import('./postgres.mjs');
  await measurePostgres({ animals: ANIMALS, redisUrl: REDIS_URL, seconds: SECONDS, rounds: ROUNDS });
  process.exit();
}
if (/^equal(:|$)/.test(options.only)) {
  const { measureEqual } = await import('./equal.mjs');
  const only = options.only.slice('equal:'.length);
  await measureEqual({ animals: ANIMALS, seconds: SECONDS, rounds: ROUNDS, only });
  process.exit();
}
const store = await makeStore(ANIMALS);
// Two services cannot share an SQLite file.
const storeWithRedis = await makeStore(ANIMALS);
const isWhole = options.only === '';
const servers = { service: await startService(store) };
const pages = await walk(servers.service.url, PAGES);
const spent = await spentKey();
const rows = [];
for (const scenario of scenarios()) {
  if (!scenario.name.includes(options.only)) continue;
  await startServersOf(scenario);
  rows.push(await measure(servers, scenario, { seconds: SECONDS, rounds: ROUNDS }));
  console.log(line(rows.at(-1)));
}
for (const { stop } of Object.values(servers)) await stop();
const memory =
  (isWhole && LOADER !== 'autocannon') || options.only === 'memory'
    ? await (await import('./resident-memory.mjs')).residentMemory(store, ANIMALS)
    : undefined;
const overloaded =
  isWhole || options.only === 'overload'
    ? await overload(store, 4 * SECONDS, Math.min(ROUNDS, 3))
    : undefined;
for (const { remove } of [store, storeWithRedis]) remove();
const result = {
  node: process.version,
  loader: LOADER,
  seconds: SECONDS,
  rounds: ROUNDS,
  ...(memory ? { memory } : {}),
  ...(overloaded ? { overload: overloaded } : {}),
  rows,
};
if (isWhole) {
  writeFileSync(join(HERE, 'results.json'), `${JSON.stringify(result, null, 2)}\n`);
  if (memory) writeCapacity(result);
}
if (memory) {
  const { few, many, quiet } = memory;
  console.log(
    `Resident memory after ${few.requests} requests from ${memory.clients} clients: ${few.mib} MiB; after ${many.requests}: ${many.mib} MiB, ` +
      `and ${quiet.mib} MiB after an idle minute (goal at most 130)`,
  );
}
for (const [large, small] of [
  ['list of 100', 'list, status varying'],
  ['list of 100, uncached', 'list, uncached'],
]) {
  const [one, other] = [large, small].map((name) => rows.find((row) => row.name === name)?.measured.service);
  if (one && other)
    console.log(`${large} costs ${(other.perSecond / one.perSecond).toFixed(2)} × ${small} (goal 2)`);
}

/** Starts the servers that a scenario measures. */
async function startServersOf({ requests }) {
  for (const name of Object.keys(requests)) servers[name] ??= await STARTS[name]();
}

/** The paths of the given number of pages, found by following rel="next". */
async function walk(url, count) {
  const met = [];
  let target = '/v1/pets?limit=20';
  while (met.length < count) {
    const response = await fetch(url + target, { headers: { authorization: `Bearer ${store.key}` } });
    await response.arrayBuffer();
    met.push(target);
    target = /<([^>]+)>; rel="next"/.exec(response.headers.get('link'))[1];
  }
  return met;
}

/** A key whose daily quota is used up. */
async function spentKey() {
  const key = await store.issueKey(1, 1);
  const headers = { authorization: `Bearer ${key}` };
  await (await fetch(`${servers.service.url}/v1/pets?limit=20`, { headers })).text();
  return key;
}

function scenarios() {
  const authorization = { authorization: `Bearer ${store.key}` };
  const get = (targets, headers = authorization) => targets.map((path) => ({ method: 'GET', path, headers }));
  const statuses = ['', '&status=available', '&status=pending', '&status=sold'];
  const lists = (limit, headers) =>
    get(
      statuses.map((status) => `/v1/pets?limit=${limit}${status}`),
      headers,
    );
  const cursors = get(pages);
  const animals = get(Array.from({ length: 1_000 }, (_, index) => `/v1/pets/${index * 97 + 1}`));
  const length = (count) => (body) => JSON.parse(body).length === count;
  const named = (body) => typeof JSON.parse(body).name === 'string';
  const code = (expected) => (body) => JSON.parse(body).code === expected;
  const everywhere = (requests) => ({ express: requests, service: requests });
  const constant = (path) => get([path]);
  // Each URL is requested only once, so that no response comes from a cache.
  const unseen = (limit) => get([`/v1/pets?limit=${limit}&asked=${NUMBER}`]);
  return [
    {
      name: 'list, status varying',
      requests: {
        ...everywhere(lists(20)),
        'service with Redis': lists(20, { authorization: `Bearer ${storeWithRedis.key}` }),
      },
      status: 200,
      body: length(20),
      ratios: [
        { server: 'service', of: 'express', goal: 1 },
        { server: 'service with Redis', of: 'express', goal: 0.6 },
      ],
    },
    {
      name: 'list, cursor varying',
      requests: { express: constant('/v1/pets?limit=20'), service: cursors },
      status: 200,
      body: length(20),
      ratios: [{ server: 'service', of: 'express', goal: 1 }],
    },
    {
      name: 'list of 100',
      requests: everywhere(lists(100)),
      status: 200,
      body: length(100),
      ratios: [{ server: 'service', of: 'express' }],
    },
    {
      name: 'list, uncached',
      requests: everywhere(unseen(20)),
      status: 200,
      body: length(20),
      ratios: [{ server: 'service', of: 'express' }],
    },
    {
      name: 'list of 100, uncached',
      requests: everywhere(unseen(100)),
      status: 200,
      body: length(100),
      ratios: [{ server: 'service', of: 'express' }],
    },
    {
      name: 'one animal',
      requests: everywhere(animals),
      status: 200,
      body: named,
      ratios: [{ server: 'service', of: 'express', goal: 0.9 }],
    },
    {
      name: '304',
      requests: {
        express: constant('/v1/pets?limit=20'),
        service: [
          {
            revalidate: '/v1/pets?limit=20',
            method: 'GET',
            path: '/v1/pets?limit=20',
            headers: authorization,
          },
        ],
      },
      status: { express: 200, service: 304 },
      ratios: [{ server: 'service', of: 'express', goal: 1 }],
    },
    {
      name: '401',
      requests: {
        express: constant('/v1/pets?limit=20'),
        service: get(['/v1/pets?limit=20'], { authorization: `Bearer ${store.key}x` }),
      },
      status: { express: 200, service: [401, 429] },
      ratios: [{ server: 'service', of: 'express', goal: 1 }],
    },
    {
      name: '429',
      requests: {
        express: constant('/v1/pets?limit=20'),
        service: get(['/v1/pets?limit=20'], { authorization: `Bearer ${spent}` }),
      },
      status: { express: 200, service: 429 },
      body: { service: (body) => code('daily_quota_exceeded')(body) || code('api_key_banned')(body) },
      ratios: [{ server: 'service', of: 'express', goal: 1 }],
    },
  ];
}
