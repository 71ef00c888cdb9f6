import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';
import { makeDatabase } from '../../kit/test-database.js';
import { fakeClock } from '../fake-clock.js';
import { RedisServer } from '../redis-server.js';
import { type Finished, ROOT, ServiceProcess, emptyFolder, petstore } from '../service-process.js';
import { SqliteFile } from '../sqlite-file.js';
import { WebhookReceiver } from '../webhook-receiver.js';

/** The data that f1645ebd left behind, created by make-fixture.mjs. */
const FIXTURE = join(ROOT, 'test/support/update-drill/f1645ebd');

/** The databases of the fixture. With PostgreSQL, the counters are in Redis. */
export type StoreKind = 'sqlite' | 'postgres';

/** A request, and the response of f1645ebd at the time of the fixture. */
export interface Recorded {
  readonly what: string;
  readonly name: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Facts about a store of the fixture, in addition to its rows. */
export interface Facts {
  /** The time of the fixture, in ISO 8601 format. */
  readonly at: string;
  readonly keys: Readonly<Record<string, { readonly id: string; readonly key: string }>>;
  readonly clients: Readonly<Record<string, string>>;
  readonly endpoints: Readonly<Record<'up' | 'down' | 'gone', string>>;
  readonly idempotent: {
    readonly key: string;
    readonly json: object;
    readonly body: string;
    readonly location: string;
  };
  readonly asked: readonly Recorded[];
  /** `X-RateLimit-Remaining` in the last response to each client. */
  readonly remaining: Readonly<Record<string, number>>;
  /** Empty lock files that the killed process left next to the SQLite file. */
  readonly leftFiles?: readonly string[];
}

/** The rows of a table, with each column as text. */
export type Rows = Readonly<Record<string, readonly Readonly<Record<string, string | null>>[]>>;

/** Options for starting a process. */
export interface StartOptions {
  /** The time at which the clock is stopped, in milliseconds after the time of the fixture; by default 0. */
  readonly laterMs?: number;
  /** A program to run instead of the service. */
  readonly script?: string;
  /** Settings that override those of the store. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** The facts of a store of the fixture. */
export function factsOf(kind: StoreKind): Facts {
  return JSON.parse(fixtureFile(kind, 'facts.json')) as Facts;
}

/** Settings that the fixture stores in a file. */
export function settingsOf(file: string): Record<string, string> {
  return parseEnv(fixtureFile(file)) as Record<string, string>;
}

/** A copy of a store of the fixture, and processes of this build that use it, with a stopped clock. */
export class UpdateDrill {
  private constructor(
    readonly kind: StoreKind,
    readonly facts: Facts,
    /** The working directory of the processes, in place of /var/lib/petstore. */
    readonly folder: string,
    /** The receiver that replaces the endpoints of the fixture. */
    readonly receiver: WebhookReceiver,
    private readonly clock: Awaited<ReturnType<typeof fakeClock>>,
    /** The settings for the database and Redis, and those with which the fixture was created. */
    private readonly environment: NodeJS.ProcessEnv,
    private readonly closing: (() => Promise<unknown>)[],
  ) {}

  /** Copies a store. Close it when done. */
  static async open(kind: StoreKind): Promise<UpdateDrill> {
    const facts = factsOf(kind);
    const { path, remove } = await emptyFolder();
    const receiver = await WebhookReceiver.start();
    const closing = [() => receiver.stop(), remove];
    const clock = await fakeClock(path);
    await clock.stopAt(Date.parse(facts.at));
    const sql = fixtureFile(kind, 'store.sql').replaceAll(/http:\/\/127\.0\.0\.1:[12](?=\/)/g, receiver.url);
    const plans = { PLANS: settingsOf('settings.env').PLANS, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
    const stores =
      kind === 'sqlite' ? await sqliteFile(path, sql, facts) : await postgresDatabase(sql, closing);
    const ports = { PORT: '0', MANAGEMENT_PORT: '0' };
    return new UpdateDrill(kind, facts, path, receiver, clock, { ...plans, ...stores, ...ports }, closing);
  }

  /** Starts the service with the settings of a deployment, except that it uses this copy of the store. */
  async start(deployment: NodeJS.ProcessEnv, more: StartOptions = {}): Promise<ServiceProcess> {
    await this.clock.stopAt(Date.parse(this.facts.at) + (more.laterMs ?? 0));
    const environment = {
      ...deployment,
      ...this.environment,
      ...more.environment,
      ...this.clock.environment,
    };
    const service = await ServiceProcess.start(this.folder, environment, more.script);
    this.closing.unshift(() => service.stop('SIGKILL'));
    return service;
  }

  /** Runs the command line with NODE_ENV=production. */
  petstore(...args: string[]): Promise<Finished> {
    // doctor compares the clock with file modification times, which follow the machine's clock.
    const clock = args[0] === 'doctor' ? {} : this.clock.environment;
    return petstore(this.folder, args, { NODE_ENV: 'production', ...this.environment, ...clock });
  }

  /** The rows of all tables. */
  rows(): Promise<Rows> {
    return this.kind === 'sqlite'
      ? rowsOfSqlite(join(this.folder, SQLITE_FILE))
      : rowsOfPostgres(this.environment.DATABASE_URL ?? '');
  }

  /** Stops all processes and removes all files. */
  async close(): Promise<void> {
    for (const close of this.closing) await close();
  }
}

const SQLITE_FILE = 'data/petstore.sqlite';

/** The content of a fixture file. */
export function fixtureFile(...path: string[]): string {
  return readFileSync(join(FIXTURE, ...path), 'utf8');
}

/** Creates the database file at its default path, and next to it the files that the killed process left. */
async function sqliteFile(folder: string, sql: string, facts: Facts): Promise<NodeJS.ProcessEnv> {
  await mkdir(join(folder, 'data'), { mode: 0o700 });
  await writeSqlite(join(folder, SQLITE_FILE), sql);
  for (const name of facts.leftFiles ?? []) await writeFile(join(folder, 'data', name), '', { mode: 0o600 });
  return {};
}

/** Creates an SQLite file by executing these statements. */
export async function writeSqlite(path: string, sql = fixtureFile('sqlite', 'store.sql')): Promise<void> {
  await writeFile(path, '', { mode: 0o600 });
  const file = await SqliteFile.open(path);
  await file.run(sql);
  await file.close();
}

async function postgresDatabase(
  sql: string,
  closing: (() => Promise<unknown>)[],
): Promise<NodeJS.ProcessEnv> {
  const { url, remove } = await makeDatabase('postgres');
  const redis = await RedisServer.start();
  closing.push(remove, () => redis.remove());
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
  const counters = new Redis(redis.port);
  for (const [command = '', ...parts] of JSON.parse(fixtureFile('postgres', 'redis.json')) as string[][])
    await counters.call(command, ...parts);
  counters.disconnect();
  return { DATABASE_URL: url, REDIS_URL: redis.url, REDIS_TIMEOUT_MS: '1000' };
}

async function rowsOfSqlite(path: string): Promise<Rows> {
  const file = await SqliteFile.open(path);
  const tables = await file.rows<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  const rows: Record<string, Rows[string]> = {};
  for (const { name } of tables) {
    const columns = await file.rows<{ name: string }>(`SELECT name FROM pragma_table_info('${name}')`);
    // A JavaScript number cannot represent every integer.
    const list = columns.map((column) => `CAST("${column.name}" AS TEXT) AS "${column.name}"`).join(', ');
    rows[name] = await file.rows(`SELECT ${list} FROM "${name}"`);
  }
  await file.close();
  return rows;
}

async function rowsOfPostgres(url: string): Promise<Rows> {
  const client = new pg.Client({ connectionString: url, types: { getTypeParser: () => String } });
  await client.connect();
  const { rows: tables } = await client.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  const rows: Record<string, Rows[string]> = {};
  for (const { name } of tables) ({ rows: rows[name] } = await client.query(`SELECT * FROM "${name}"`));
  await client.end();
  return rows;
}
