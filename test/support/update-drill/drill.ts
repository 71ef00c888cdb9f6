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

/** What f1645ebd left, made by make-fixture.mjs. */
const FIXTURE = join(ROOT, 'test/support/update-drill/f1645ebd');

/** The database of a store of the fixture; with PostgreSQL, its counters are in Redis. */
export type StoreKind = 'sqlite' | 'postgres';

/** A request and its response by f1645ebd at the moment of the fixture. */
export interface Recorded {
  readonly what: string;
  readonly name: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** What is known of a store of the fixture besides its rows. */
export interface Facts {
  /** The moment of the fixture, as ISO 8601 text. */
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
  /** `X-RateLimit-Remaining` of the last response to a client. */
  readonly remaining: Readonly<Record<string, number>>;
  /** Lock files of the killed process alongside the SQLite file; they are empty. */
  readonly leftFiles?: readonly string[];
}

/** A table's rows, each column as text. */
export type Rows = Readonly<Record<string, readonly Readonly<Record<string, string | null>>[]>>;

/** How a process is started. */
export interface StartOptions {
  /** How long after the moment of the fixture the clock is stopped, in milliseconds; 0 by default. */
  readonly laterMs?: number;
  /** What is run instead of the service. */
  readonly script?: string;
  /** Settings that have precedence over those of the stores. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** The facts of a store of the fixture. */
export function factsOf(kind: StoreKind): Facts {
  return JSON.parse(fixtureFile(kind, 'facts.json')) as Facts;
}

/** Settings that the fixture has in a file. */
export function settingsOf(file: string): Record<string, string> {
  return parseEnv(fixtureFile(file)) as Record<string, string>;
}

/** A copy of a store of the fixture, and this build as processes on it, under a clock that is stopped. */
export class UpdateDrill {
  private constructor(
    readonly kind: StoreKind,
    readonly facts: Facts,
    /** Where the processes run, as /var/lib/petstore. */
    readonly folder: string,
    /** Where the endpoints of the fixture are sent to. */
    readonly receiver: WebhookReceiver,
    private readonly clock: Awaited<ReturnType<typeof fakeClock>>,
    /** The settings of the database, of Redis, and those that the fixture was made with. */
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

  /** Starts the service with the settings of a deployment, where those of the stores are this copy's. */
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

  /** Runs the command line, in production. */
  petstore(...args: string[]): Promise<Finished> {
    // doctor compares the clock with the times of files, which are the machine's.
    const clock = args[0] === 'doctor' ? {} : this.clock.environment;
    return petstore(this.folder, args, { NODE_ENV: 'production', ...this.environment, ...clock });
  }

  /** The rows of all tables. */
  rows(): Promise<Rows> {
    return this.kind === 'sqlite'
      ? rowsOfSqlite(join(this.folder, SQLITE_FILE))
      : rowsOfPostgres(this.environment.DATABASE_URL ?? '');
  }

  /** Ends and removes everything. */
  async close(): Promise<void> {
    for (const close of this.closing) await close();
  }
}

const SQLITE_FILE = 'data/petstore.sqlite';

/** The text of a file of the fixture. */
export function fixtureFile(...path: string[]): string {
  return readFileSync(join(FIXTURE, ...path), 'utf8');
}

/** Makes the file where the service has it by default, and alongside it what the killed process left. */
async function sqliteFile(folder: string, sql: string, facts: Facts): Promise<NodeJS.ProcessEnv> {
  await mkdir(join(folder, 'data'), { mode: 0o700 });
  await writeSqlite(join(folder, SQLITE_FILE), sql);
  for (const name of facts.leftFiles ?? []) await writeFile(join(folder, 'data', name), '', { mode: 0o600 });
  return {};
}

/** Makes an SQLite file that has these statements executed. */
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
    // A number in JavaScript does not hold every integer.
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
