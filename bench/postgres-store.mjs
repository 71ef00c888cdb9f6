// A separate PostgreSQL database for a benchmark, with a client whose quota is practically unlimited. BENCH_POSTGRES is the URL of the server.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SERVER = process.env.BENCH_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const LIMIT = '1000000000';

/** Creates the database, its tables (with the service's migrations), and the given number of animals. */
export async function makePostgresStore(animals) {
  const name = `petstore_bench_${randomUUID().replaceAll('-', '')}`;
  const url = new URL(SERVER);
  url.pathname = `/${name}`;
  const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  await query(SERVER, `CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', DATABASE_URL: url.href };
  const petstore = async (...args) => {
    const command = [join(ROOT, 'bin/petstore.js'), ...args, '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: folder, env });
    return JSON.parse(stdout);
  };
  await petstore('db', 'migrate');
  await query(
    url.href,
    `INSERT INTO pets (name, category_id, status) SELECT 'Biscuit ' || n, n % 7,
       (ARRAY['available', 'pending', 'sold'])[1 + n % 3] FROM generate_series(1, ${animals}) AS n`,
  );
  await query(url.href, 'ANALYZE');
  const plan = ['--plan', 'enterprise', '--per-minute', LIMIT, '--per-day', LIMIT];
  const { id } = await petstore('client', 'create', '--name', 'Bench', ...plan);
  const { key } = await petstore('key', 'issue', '--client', id);
  return {
    folder,
    url: url.href,
    key,
    remove: async () => {
      await query(SERVER, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function query(url, sql) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
