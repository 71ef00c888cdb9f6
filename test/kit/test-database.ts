import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where a TestService stores its rows: in memory, in a file in a separate folder, or in a separate PostgreSQL database. */
export type DatabaseKind = 'memory' | 'file' | 'postgres';

/** The database of one service, and a function that removes it. */
export interface MadeDatabase {
  readonly url: string;
  readonly remove: () => Promise<void>;
}

/** The server on which databases are created, unless PETSTORE_TEST_POSTGRES specifies another. */
const SERVER = 'postgres://postgres@127.0.0.1:5432/postgres';

/** Creates a database. With PETSTORE_TEST_DATABASE=postgres, every kind is a PostgreSQL database, so that a suite can run on both. */
export function makeDatabase(kind: DatabaseKind): Promise<MadeDatabase> {
  if (kind === 'postgres') return makePostgres('template0');
  // Copying a database with the tables is faster than creating them.
  if (process.env['PETSTORE_TEST_DATABASE'] === 'postgres')
    return makePostgres(process.env['PETSTORE_TEST_POSTGRES_TEMPLATE'] ?? 'template0');
  return kind === 'memory' ? Promise.resolve(IN_MEMORY) : makeFile();
}

const IN_MEMORY: MadeDatabase = { url: 'sqlite::memory:', remove: () => Promise.resolve() };

async function makeFile(): Promise<MadeDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-test-'));
  return {
    url: `sqlite:${join(folder, 'petstore.sqlite')}`,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function makePostgres(template: string): Promise<MadeDatabase> {
  const name = `petstore_test_${randomUUID().replaceAll('-', '')}`;
  const url = new URL(process.env['PETSTORE_TEST_POSTGRES'] ?? SERVER);
  const server = url.href;
  url.pathname = `/${name}`;
  await execute(
    server,
    `CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE ${template}`,
    // Test data need not survive a crash of the server, so commits do not wait for the disk.
    `ALTER DATABASE ${name} SET synchronous_commit = off`,
  );
  return { url: url.href, remove: () => execute(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function execute(server: string, ...statements: string[]): Promise<void> {
  const { Client } = (await import('pg')).default;
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    for (const sql of statements) await client.query(sql);
  } finally {
    await client.end();
  }
}
