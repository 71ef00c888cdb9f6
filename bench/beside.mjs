// Compares this build with another one: `npm run bench:beside -- <folder of the other checkout> [pairs] [seconds] [scenario]`. Prints the
// ratios of throughput, CPU time and 99th percentile, the geometric mean of the throughput ratios, and the ratios of startup time and memory.
// The ratio of two identical builds is between 0.93 and 1.10. Of two services, the one started last is up to 15 % faster, so each scenario is
// measured in both orders.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { processorMicros } from './measure.mjs';
import { NUMBER, loadAtRandom } from './random-load.mjs';
import { makeStore, median, startService } from './running-service.mjs';

const ANIMALS = 100_000;
const WARM_UP_SECONDS = 2;
const [folder, pairs = '7', seconds = '3', only] = process.argv.slice(2);
if (folder === undefined)
  throw new Error('Specify the folder of another checkout, for example: npm run bench:beside -- ../before');

/** Each build creates its own database, because their schemas may differ. */
async function opened(build) {
  const store = await build.makeStore(ANIMALS);
  const starts = [];
  for (let start = 0; start < Number(pairs); start += 1) {
    const service = await startOn(build, store);
    starts.push(service.startMs);
    await service.stop();
  }
  return { build, store, starts, spentKey: await store.issueKey(1, 1), atRest: [], afterLoad: [] };
}

function startOn(build, store) {
  return build.startService(store, {}, join(store.folder, 'service.log'));
}

const builds = {
  here: await opened({ makeStore, startService }),
  beside: await opened(await import(pathToFileURL(join(resolve(folder), 'bench/running-service.mjs')))),
};
const ORDERS = [
  ['here', 'beside'],
  ['beside', 'here'],
];

const lists = ['', '&status=available', '&status=pending', '&status=sold'].map(
  (status) => `/v1/pets?limit=20${status}`,
);
const write = { path: '/v1/pets', body: '{"name":"Rex","categoryId":1}' };
const authorized = ({ store }) => ({ authorization: `Bearer ${store.key}` });
const tag = async (service) =>
  (await fetch(service.url + lists[0], { headers: authorized(service) })).headers.get('etag');
const SCENARIOS = {
  'list from the cache': (service) => ({ reads: lists, headers: authorized(service) }),
  'list, uncached': (service) => ({
    reads: lists.map((path) => `${path}&asked=${NUMBER}`),
    headers: authorized(service),
  }),
  'one animal at random': (service) => ({
    reads: [`/v1/pets/${NUMBER}`],
    among: ANIMALS,
    headers: authorized(service),
  }),
  304: async (service) => ({
    reads: lists.slice(0, 1),
    headers: { ...authorized(service), 'if-none-match': await tag(service) },
  }),
  401: () => ({ reads: lists, headers: {} }),
  429: ({ spentKey }) => ({ reads: lists, headers: { authorization: `Bearer ${spentKey}` } }),
  'list under 5 % POSTs': (service) => ({ reads: lists, write, share: 0.05, headers: authorized(service) }),
  POST: (service) => ({ write, share: 1, headers: authorized(service) }),
};

const ratios = [];
for (const [name, plan] of Object.entries(SCENARIOS)) {
  if (only !== undefined && name !== only) continue;
  const runs = { here: [], beside: [] };
  for (const order of ORDERS) {
    const services = {};
    for (const build of order) {
      const { build: bench, store, spentKey, atRest } = builds[build];
      services[build] = { ...(await startOn(bench, store)), store, spentKey };
      atRest.push(residentMiB(services[build].pid));
      await loadAtRandom(services[build].url, await plan(services[build]), WARM_UP_SECONDS, 1_000);
    }
    for (let pair = 0; pair < Number(pairs) / 2; pair += 1)
      for (const build of ORDERS[pair % 2])
        runs[build].push(await measured(name, build, plan, services[build], pair));
    for (const [build, { pid, stop }] of Object.entries(services)) {
      builds[build].afterLoad.push(residentMiB(pid));
      await stop();
    }
  }
  const of = (figure) => runs.here.map((run, at) => figure(run) / figure(runs.beside[at]));
  const perSecond = geometricMean(of((run) => run.perSecond));
  ratios.push(perSecond);
  const micros = (build) => Math.round(median(runs[build].map((run) => run.micros)));
  console.log(
    `${name}: ${perSecond.toFixed(2)} × (CPU time ${geometricMean(of((run) => run.micros)).toFixed(2)} ×, ` +
      `${micros('here')} vs. ${micros('beside')} µs; p99 ${geometricMean(of((run) => run.p99)).toFixed(2)} ×)`,
  );
}
console.log(`geometric mean: ${geometricMean(ratios).toFixed(2)} ×`);
console.log(
  `startup time: ${ratioOf('starts').toFixed(2)} ×, memory when idle ${ratioOf('atRest').toFixed(2)} ×, after load ${ratioOf('afterLoad').toFixed(2)} ×`,
);
for (const { store } of Object.values(builds)) store.remove();

async function measured(name, build, plan, service, pair) {
  const before = processorMicros(service.pid);
  const run = await loadAtRandom(service.url, await plan(service), Number(seconds), pair);
  const wrong = name === '401' || name === '429' ? run.requests - run.failed : run.failed;
  if (wrong > 0) throw new Error(`${build}, ${name}: ${wrong} requests received an unexpected response`);
  return { ...run, micros: (processorMicros(service.pid) - before) / run.requests };
}

function ratioOf(figures) {
  return median(builds.here[figures]) / median(builds.beside[figures]);
}

function residentMiB(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1_024;
}

function geometricMean(values) {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}
