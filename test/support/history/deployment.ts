import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { fakeClock } from '../fake-clock.js';
import { freePort } from '../free-port.js';
import { NetworkProxy } from '../network-proxy.js';
import { PostgresServer } from '../postgres-server.js';
import { RedisServer } from '../redis-server.js';
import { ROOT, folderOfTest, petstore } from '../service-process.js';
import { rowsOf } from '../sqlite-file.js';
import { Instance } from '../torture/instance.js';
import { type Fault, type StoredPet, now, petValue } from './history.js';
import type { Topology } from './promises.js';
import { PostgresSession, type Session, SqliteSession } from './sessions.js';

/** Pause between attempts to start an instance while its database is unavailable, as with systemd, in milliseconds. */
const START_AGAIN_MS = 500;
/** Starts the service with additional operations, which change and delete an animal. */
const WITH_CHANGES = join(ROOT, 'test/support/history/service.mjs');
/** A Redis response that is late because the machine is busy must not count as a failure. */
const ENVIRONMENT = {
  NODE_ENV: 'production',
  DATABASE_MIGRATE: 'auto',
  REDIS_TIMEOUT_MS: '1000',
  MANAGEMENT_PORT: '0',
  // Requests may use any client address, because requests with invalid keys use up the quota of their address.
  TRUST_PROXY: '1',
  // Each plan has a different limit, so that responses show which plan applies.
  PLANS: 'free=50001/10000000,pro=50002/10000000,business=50003/10000000',
};

/** The parts of a deployment. */
interface Parts {
  /** The last one has operations that change and delete an animal. */
  readonly instances: readonly [Instance, ...Instance[]];
  readonly folder: string;
  /** The environment of the command line. */
  readonly environment: NodeJS.ProcessEnv;
  /** Opens a session in the database. */
  readonly session: () => Session;
  /** The stored animals. */
  readonly stored: () => Promise<StoredPet[]>;
  readonly postgres?: FailingPostgres;
  readonly redis?: RedisServer;
  /** Sets the clock of all instances, in seconds ahead of the machine's. */
  readonly setClock?: (ahead: number) => Promise<void>;
}

/** The service as an operator runs it, with its dependencies. Everything stops at the end of the test. */
export class Deployment {
  private constructor(readonly parts: Parts) {}

  /** Starts a deployment with this topology. */
  static async start(topology: Topology): Promise<Deployment> {
    const parts = await (topology === 'postgres' ? onPostgres() : onSqlite());
    for (const instance of parts.instances) await instance.start();
    return new Deployment(parts);
  }

  /** The processes of the service. */
  get instances(): readonly Instance[] {
    return this.parts.instances;
  }

  /** Runs the petstore command while the service runs. Returns undefined if it fails. */
  async command(...args: string[]): Promise<unknown> {
    const { code, stdout } = await petstore(this.parts.folder, [...args, '--json'], this.parts.environment);
    return code === 0 ? (JSON.parse(stdout) as unknown) : undefined;
  }

  /** The times at which instances reported that they count without Redis. */
  aloneSpans(): Fault[] {
    return this.instances.flatMap(({ lines }, on) => {
      const changes = lines.filter(({ msg }) =>
        /Quotas are counted in Redis|Redis failed|cannot be used/.test(msg),
      );
      return changes.flatMap(({ msg, time }, at): Fault[] => {
        if (msg.includes('are counted in Redis')) return [];
        const next = changes.slice(at).find((change) => change.msg.includes('are counted in Redis'));
        // The instance reports this after three late responses.
        return [
          {
            kind: 'redis alone',
            on,
            start: instantOf(time) - 3_500,
            end: next ? instantOf(next.time) : now(),
          },
        ];
      });
    });
  }

  /** Kills an instance, or stops it as an operator does, and starts it until it listens. */
  async restart(instance: Instance, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await instance.stop(signal);
    const isStarted = () =>
      instance.start().then(
        () => true,
        () => false,
      );
    while (!(await isStarted())) await pause(START_AGAIN_MS);
  }
}

/** A PostgreSQL server and the standby that replaces it, at the same address. */
export class FailingPostgres {
  private constructor(
    private readonly proxy: NetworkProxy,
    /** The primary. */
    public primary: PostgresServer,
  ) {}

  /** Starts the servers. They run until the end of the test. */
  static async start(): Promise<FailingPostgres> {
    const primary = await PostgresServer.start();
    onTestFinished(() => primary.remove());
    const proxy = await NetworkProxy.to(primary.port);
    onTestFinished(() => proxy.close());
    return new FailingPostgres(proxy, primary);
  }

  /** The value of `DATABASE_URL`. */
  get url(): string {
    return `postgres://petstore@127.0.0.1:${this.proxy.port}/postgres`;
  }

  /** Crashes the primary, and promotes a standby that has all acknowledged commits. */
  async failOver(): Promise<void> {
    const old = this.primary;
    const standby = await PostgresServer.standbyOf(old);
    onTestFinished(() => standby.remove());
    await old.query("ALTER SYSTEM SET synchronous_standby_names = '*'", 'SELECT pg_reload_conf()');
    // A session reads the setting when it executes its next statement.
    await pause(500);
    const [{ lsn } = {}] = await old.query('SELECT pg_current_wal_lsn() AS lsn');
    const isEven = `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync' AND flush_lsn >= '${String(lsn)}'`;
    while ((await old.query(isEven)).length === 0) await pause(50);
    await old.stop('immediate');
    await standby.promote();
    this.proxy.target = standby.port;
    this.primary = standby;
  }
}

async function onPostgres(): Promise<Parts> {
  const postgres = await FailingPostgres.start();
  const redis = await RedisServer.ofTest();
  const folder = await folderOfTest();
  const environment = { ...ENVIRONMENT, DATABASE_URL: postgres.url, REDIS_URL: redis.url };
  const instances = [
    new Instance(folder, environment, await freePort()),
    new Instance(folder, environment, await freePort(), WITH_CHANGES),
  ] as const;
  const stored = async () => petsIn(await postgres.primary.query(PETS));
  const session = () => new PostgresSession(postgres.url);
  return { instances, folder, environment, session, stored, postgres, redis };
}

async function onSqlite(): Promise<Parts> {
  const folder = await folderOfTest();
  const clock = await fakeClock(folder);
  const environment = { ...ENVIRONMENT, ...clock.environment };
  const instance = new Instance(folder, environment, await freePort(), WITH_CHANGES);
  const file = join(folder, 'data/petstore.sqlite');
  const stored = async () => petsIn(await rowsOf<Record<string, unknown>>(file, PETS));
  const session = new SqliteSession(file);
  return {
    instances: [instance],
    folder,
    environment: ENVIRONMENT,
    session: () => session,
    stored,
    setClock: clock.set,
  };
}

const instantOf = (time: unknown): number => Date.parse(String(time));

const PETS = 'SELECT id, name, category_id AS category, status FROM pets';

function petsIn(rows: readonly Record<string, unknown>[]): StoredPet[] {
  return rows.map(({ id, name, category, status }) => ({
    id: Number(id),
    value: petValue({ status: String(status), name: String(name), categoryId: String(category) }),
  }));
}
