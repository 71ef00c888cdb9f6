// Compares the service with an equivalent Fastify service and with bare Express: `npm run bench -- --only equal`, or `--only equal:POST` for
// the scenarios with POST in their names. docs/performance.md explains the results. A complete run updates the table there.
import { copyFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { checkEqual } from './equal-check.mjs';
import { EXPRESS, FASTIFY, SERVICE, scenarios } from './equal-scenarios.mjs';
import { P99_GOAL, writeTable } from './equal-table.mjs';
import { LOADER } from './load.mjs';
import { inTurn, peer, processorMicros, ratiosOf } from './measure.mjs';
import { loadAtRandom } from './random-load.mjs';
import { makeStore, median, startService } from './running-service.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const WARM_UP_REQUESTS = 10_000;
const MOST_WARM_UP_SECONDS = 10;
const CONNECTIONS = 32;

/** Checks that the service and its peer do the same work, measures all scenarios, and writes bench/equal-results.json. */
export async function measureEqual({ animals, seconds, rounds, only }) {
  if (LOADER === 'autocannon') throw new Error('This benchmark requires wrk: apt-get install wrk');
  const loadBefore = loadavg()[0];
  const store = await makeStore(animals);
  const servers = {};
  const rows = [];
  try {
    const keys = {
      key: store.key,
      smallKey: await store.issueKey(3, 100),
      spentKey: await store.issueKey(1, 1),
    };
    await startServers(servers, store);
    const compared = await checkEqual([servers[SERVICE], servers[FASTIFY]], keys);
    console.log(
      `Both services send equal responses to ${compared} kinds of requests, with the same rows, log lines and counts.`,
    );
    for (const scenario of scenarios(servers, keys, animals)) {
      if (!scenario.name.includes(only)) continue;
      rows.push(await measure(servers, scenario, { seconds, rounds }));
      console.log(line(rows.at(-1)));
    }
  } finally {
    for (const { stop } of Object.values(servers)) await stop();
    store.remove();
  }
  if (only !== '') return;
  const loadAverage = { before: loadBefore, after: loadavg()[0] };
  const result = { node: process.version, loader: LOADER, seconds, rounds, loadAverage, rows };
  writeFileSync(join(HERE, 'equal-results.json'), `${JSON.stringify(result, null, 2)}\n`);
  writeTable(result);
}

/** Starts the servers. Each has a separate database with the same rows, and writes its log to a file. */
async function startServers(servers, store) {
  const file = (name) => join(store.folder, name);
  copyFileSync(store.file, file('peer.sqlite'));
  const managementPort = await freePort();
  servers[SERVICE] = {
    ...(await startService(store, { MANAGEMENT_PORT: String(managementPort) }, file('service.log'))),
    databaseFile: store.file,
    logFile: file('service.log'),
    metricsUrl: `http://127.0.0.1:${managementPort}/metrics`,
  };
  const fastify = await peer(join(HERE, 'peers/fastify-equal.mjs'), {
    DATABASE_FILE: file('peer.sqlite'),
    LOG_FILE: file('peer.log'),
  });
  servers[FASTIFY] = {
    ...fastify,
    databaseFile: file('peer.sqlite'),
    logFile: file('peer.log'),
    metricsUrl: `${fastify.url}/metrics`,
  };
  servers[EXPRESS] = await peer(join(HERE, 'peers/express.mjs'));
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Loads the servers of a scenario in turn. Returns the median of each figure, and the service's ratios to the others. */
async function measure(
  servers,
  { name, plans: plansOrFactory, isRefused = false, goals },
  { seconds, rounds },
) {
  const plans = typeof plansOrFactory === 'function' ? await plansOrFactory() : plansOrFactory;
  const names = Object.keys(plans);
  const runs = Object.fromEntries(names.map((server) => [server, []]));
  for (const server of names) await warmUp(servers[server].url, plans[server]);
  for (let round = 0; round < rounds; round += 1) {
    // The order alternates, because the first server in a round may have an advantage.
    for (const server of inTurn(names, round)) {
      const expected = isRefused && server !== EXPRESS ? 'refused' : 'answered';
      runs[server].push(await runOf(servers[server], plans[server], seconds, round, expected));
    }
  }
  const measured = Object.fromEntries(names.map((server) => [server, medians(runs[server])]));
  const ratios = names.slice(1).map((of) => ({
    of,
    ...(goals[of] === undefined ? {} : { goal: goals[of] }),
    ...ratiosOf(runs[SERVICE], runs[of]),
  }));
  return { name, measured, ratios };
}

/** Sends requests until Node.js has compiled the hot code. */
async function warmUp(url, plan) {
  for (let sent = 0, at = 0; sent < WARM_UP_REQUESTS && at < MOST_WARM_UP_SECONDS; at += 1)
    sent += (await loadAtRandom(url, plan, 1, 1_000 + at)).requests;
}

/** Measures one run. Throws if a request received an unexpected response or the file does not contain every added animal. */
async function runOf({ url, pid, databaseFile, metricsUrl }, plan, seconds, round, expected) {
  const before = await stateOf(databaseFile, metricsUrl, pid);
  const run = await loadAtRandom(url, plan, seconds, round + 1);
  const cpuMicros = (processorMicros(pid) - before.micros) / run.requests;
  // Requests that were in flight at the end still receive a response.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const after = await stateOf(databaseFile, metricsUrl, pid);
  const wrong = expected === 'refused' ? run.requests - run.failed : run.failed;
  if (wrong > 0) throw new Error(`${url}: ${wrong} of ${run.requests} requests were not ${expected}`);
  const added = after.lastId - before.lastId;
  const posts = run.requests * (plan.share ?? 0);
  const tolerance = CONNECTIONS + (plan.share === 1 ? 0 : 6 * Math.sqrt(posts));
  if (databaseFile && Math.abs(added - posts) > tolerance)
    throw new Error(`${url}: the file contains ${added} new animals after ${posts} POSTs`);
  const [hits, misses] = [after.hits - before.hits, after.misses - before.misses];
  return { ...run, cpuMicros, ...(hits + misses > 0 ? { cached: hits / (hits + misses) } : {}) };
}

/** The state of a server: CPU time, the id of the last animal, and the hits and misses of the response cache. */
async function stateOf(databaseFile, metricsUrl, pid) {
  const metrics = metricsUrl ? await (await fetch(metricsUrl)).text() : '';
  const lookups = (outcome) =>
    Number(
      new RegExp(
        `^petstore_cache_lookups_total\\{cache="responses",outcome="${outcome}"\\} (\\d+)`,
        'm',
      ).exec(metrics)?.[1] ?? 0,
    );
  const state = { hits: lookups('hit'), misses: lookups('miss'), lastId: 0, micros: 0 };
  if (databaseFile) {
    const database = new Database(databaseFile, { readonly: true });
    state.lastId = database.prepare('SELECT max(id) FROM pets').pluck().get();
    database.close();
  }
  return { ...state, micros: processorMicros(pid) };
}

function medians(runs) {
  const figures = ['perSecond', 'p50', 'p99', 'cpuMicros', 'loader', 'cached'];
  const known = figures.filter((figure) => runs[0][figure] !== undefined);
  return Object.fromEntries(known.map((figure) => [figure, median(runs.map((run) => run[figure]))]));
}

function line({ name, measured, ratios }) {
  const shown = Object.entries(measured).map(
    ([server, { perSecond, p50, p99, cpuMicros, loader, cached }]) =>
      `  ${server} ${Math.round(perSecond)}/s (p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms, CPU ` +
      `${Math.round(cpuMicros)} µs per request, wrk ${Math.round(loader * 100)} % of one core)` +
      (cached === undefined ? '' : `, ${(cached * 100).toFixed(1)} % from the cache`),
  );
  const ratioLines = ratios.map(
    ({ of, ratio, cpu, p99, goal }) =>
      `  → ${ratio.toFixed(2)} × ${of}${goal ? ` (goal ${goal})` : ''}, ${cpu.toFixed(2)} × by CPU time, ` +
      `p99 ${p99.toFixed(2)} ×${of === FASTIFY ? ` (goal at most ${P99_GOAL})` : ''}`,
  );
  return [name, ...shown, ...ratioLines].join('\n');
}
