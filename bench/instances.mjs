// Lists of one instance while another writes so many rows a second, to the table of the lists or to another one:
// `npm run bench:instances [-- <seconds> [<rounds>]]`. They share a PostgreSQL of their own, and REDIS_URL.
import { join } from 'node:path';
import pg from 'pg';
import { load } from './load.mjs';
import { peer } from './measure.mjs';
import { makePostgresStore } from './postgres-store.mjs';
import { median, startService } from './running-service.mjs';

const RATES = [10, 100, 300];
const TABLES = ['pets', 'bench_orders'];
const [seconds = 3, rounds = 5] = process.argv.slice(2).map(Number);

const store = await makePostgresStore(10_000);
const administrator = new pg.Client({ connectionString: store.url });
await administrator.connect();
await administrator.query(
  'CREATE TABLE bench_orders (id bigserial PRIMARY KEY, name text, category_id bigint, status text)',
);
const { REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;
const environment = { DATABASE_URL: store.url, REDIS_URL };
const service = await startService(store, environment);
const writer = await peer(join(import.meta.dirname, 'peers/writing-instance.mjs'), {
  ...environment,
  PORT: '0',
  MANAGEMENT_PORT: 'off',
});
const headers = { authorization: `Bearer ${store.key}` };
const lists = ['', '&status=available', '&status=pending', '&status=sold'].map((status) => ({
  method: 'GET',
  path: `/v1/pets?limit=20${status}`,
  headers,
}));

/** Lists a second while the writer inserts at this rate. */
async function listsBeside(table, rate) {
  await fetch(`${writer.url}/${table}/${rate}`);
  const { perSecond, refused } = await load(service.url, lists, seconds);
  if (refused > 0) throw new Error(`${refused} lists were refused`);
  const written = Number(await (await fetch(`${writer.url}/${table}/0`)).text());
  return { perSecond, written: written / seconds };
}

const found = new Map();
try {
  await load(service.url, lists, 5);
  for (let round = 0; round < rounds; round += 1)
    for (const table of TABLES)
      for (const rate of [0, ...RATES]) {
        const name = `${rate} a second to ${table}`;
        found.set(name, [...(found.get(name) ?? []), await listsBeside(table, rate)]);
      }
} finally {
  await writer.stop();
  await service.stop();
  await administrator.end();
  await store.remove();
}
const rows = [...found].map(([name, runs]) => [
  name,
  median(runs.map(({ perSecond }) => perSecond)),
  median(runs.map(({ written }) => written)),
]);
const [[, undisturbed]] = rows;
console.table(
  rows.map(([name, perSecond, written]) => ({
    'rows written': name,
    'written a second': Math.round(written),
    'lists a second': Math.round(perSecond),
    'of undisturbed': (perSecond / undisturbed).toFixed(2),
  })),
);
