// Compares the service on PostgreSQL, with and without Redis, with an equivalent Fastify service on pg and an Express service that does less
// work: `npm run bench -- --only postgres`. docs/performance.md explains the results.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LOADER } from './load.mjs';
import { line, measure, peer } from './measure.mjs';
import { makePostgresStore } from './postgres-store.mjs';
import { NUMBER } from './random-load.mjs';
import { startService } from './running-service.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const SERVICES = ['service', 'service with Redis'];
const PEERS = ['express', 'fastify'];

/** Measures all scenarios on databases with the given number of animals, and writes bench/postgres-results.json. */
export async function measurePostgres({ animals, redisUrl, ...how }) {
  // While an instance runs without Redis, no other instance can use its database.
  const [store, shared] = [await makePostgresStore(animals), await makePostgresStore(animals)];
  const environment = { DATABASE_URL: store.url };
  // Each service writes its log to a file.
  const logFile = (name) => join(store.folder, `${name}.log`);
  const starts = {
    express: () => peer(join(HERE, 'peers/express-pg.mjs'), environment),
    fastify: () =>
      peer(join(HERE, 'peers/fastify-equal.mjs'), { ...environment, LOG_FILE: logFile('fastify') }),
    service: () => startService(store, environment, logFile('service')),
    'service with Redis': () =>
      startService(shared, { DATABASE_URL: shared.url, REDIS_URL: redisUrl }, logFile('shared')),
  };
  const rows = [];
  const servers = {};
  try {
    for (const scenario of scenarios(store.key, shared.key)) {
      for (const [name, start] of Object.entries(starts)) servers[name] ??= await start();
      rows.push(await measure(servers, scenario, how));
      console.log(line(rows.at(-1)));
      // Restarted for each scenario, so that the caches and heaps of one do not affect the next.
      for (const name of SERVICES) {
        await servers[name].stop();
        delete servers[name];
      }
    }
  } finally {
    for (const { stop } of Object.values(servers)) await stop();
    for (const { remove } of [store, shared]) await remove();
  }
  const result = { node: process.version, loader: LOADER, ...how, rows };
  writeFileSync(join(HERE, 'postgres-results.json'), `${JSON.stringify(result, null, 2)}\n`);
}

function scenarios(key, sharedKey) {
  const get = (targets) => targets.map((path) => ({ method: 'GET', path }));
  const lists = ['', '&status=available', '&status=pending', '&status=sold'].map(
    (status) => `/v1/pets?limit=20${status}`,
  );
  const animals = Array.from({ length: 1_000 }, (_, index) => `/v1/pets/${index * 97 + 1}`);
  const named = (body) => typeof JSON.parse(body).name === 'string';
  const twenty = (body) => JSON.parse(body).length === 20;
  const post = {
    method: 'POST',
    path: '/v1/pets',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"Rex","categoryId":1}',
  };
  // Each URL is requested only once, so that no response comes from a cache.
  const unseen = `/v1/pets?limit=20&asked=${NUMBER}`;
  const scenario = (name, options) => scenarioOf(name, options, key, sharedKey);
  return [
    scenario('list, status varying', { requests: get(lists), status: 200, body: twenty, goal: 2 }),
    scenario('list, uncached', { requests: get([unseen]), status: 200, body: twenty }),
    scenario('one animal', { requests: get(animals), status: 200, body: named, goal: 1 }),
    scenario('POST', { requests: [post], status: 201, body: named, goal: 1 }),
  ];
}

/** A scenario in which all servers receive the same requests. `goal` applies to the ratio to Express. */
function scenarioOf(name, { requests, status, body, goal }, key, sharedKey) {
  const keys = { express: key, fastify: key, service: key, 'service with Redis': sharedKey };
  const by = (own) =>
    requests.map((one) => ({ ...one, headers: { ...one.headers, authorization: `Bearer ${own}` } }));
  return {
    name: `postgres: ${name}`,
    requests: Object.fromEntries(Object.entries(keys).map(([server, own]) => [server, by(own)])),
    status,
    body,
    ratios: SERVICES.flatMap((server) =>
      PEERS.map((of) => ({ server, of, ...(goal && of === 'express' ? { goal } : {}) })),
    ),
  };
}
