import type { ClientConfig, Pool, PoolClient } from 'pg';
import type pg from 'pg';
import { readCertificates } from '../../core/config/certificates.js';
import type { PostgresAddress } from '../../core/config/database-url.js';
import type { ConnectionLoad } from '../database.js';
import type { GiveBack, Turns } from '../scopes/turns.js';
import { isDenied, isFull, meaningOf } from './postgres-errors.js';
import { ANSWER_LATE_MS, LateCommits } from './late-commits.js';
import { type Found, PostgresTroubles, type TimedConnection } from './postgres-troubles.js';
import { writePlaces } from './write-places.js';

/** How long making a connection, or waiting for one, may take, in milliseconds. */
const CONNECT_TIMEOUT_MS = 1_000;
/** How long a transaction may wait for its next statement, in milliseconds: longer than any wait of the service itself. */
const IDLE_IN_TRANSACTION_MS = 15_000;
/** How long an unused connection stays open, in milliseconds. */
const IDLE_MS = 60_000;

/** What is set for connections. */
export interface PostgresOptions {
  readonly address: PostgresAddress;
  /** What its sessions are called (application_name). */
  readonly sessionName: string;
  /** File with the certificates that are trusted. */
  readonly ca: string | null;
  /** Most connections. */
  readonly pool: number;
  /** In milliseconds; 0 for no limit. */
  readonly statementTimeoutMs: number;
}

/** The settings of each connection, as pg takes them. */
export function clientConfig({
  address,
  sessionName,
  ca,
  statementTimeoutMs,
}: PostgresOptions): ClientConfig {
  const { host, port, user, password, database, sslMode } = address;
  return {
    host,
    port,
    user,
    ...(password === undefined ? {} : { password }),
    database,
    ssl: sslMode !== 'disable' && {
      rejectUnauthorized: sslMode !== 'require',
      ...(ca === null ? {} : { ca: readCertificates('DATABASE_CA', ca) }),
      // verify-ca trusts the certificate whatever host it names.
      ...(sslMode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
    },
    application_name: sessionName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(statementTimeoutMs === 0
      ? {}
      : {
          statement_timeout: statementTimeoutMs,
          query_timeout: statementTimeoutMs + ANSWER_LATE_MS,
          idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
        }),
    keepAlive: true,
  };
}

/** What TypeORM hands to pg for its pool, beside the address. */
export function poolExtra(driver: typeof pg, options: PostgresOptions): object {
  const Client = class extends driver.Client implements TimedConnection {
    readonly begunAt = performance.now();
  };
  return { ...clientConfig(options), Client, max: options.pool, idleTimeoutMillis: IDLE_MS, pipeline: true };
}

/** Takes a page of the disk of the database's own tablespace, and gives it back without a commit, which might hang. */
const TAKES_A_PAGE = 'BEGIN; CREATE TEMPORARY TABLE petstore_page AS SELECT 1 AS taken; ROLLBACK';
/** Whether a session of this service has been in a statement or a transaction for longer than the way of a statement to it takes. */
const IS_COMMITTING =
  `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() ` +
  `AND application_name = current_setting('application_name') AND state <> 'idle' ` +
  `AND state_change < now() - interval '1 second') AS committing`;

/** The connections to PostgreSQL, and whether it answers. While it does not, requests are refused at once. */
export class PostgresPool {
  readonly troubles: PostgresTroubles;
  readonly late: LateCommits;
  private readonly places: Turns;
  /** The places of the connections that are in writes. */
  private readonly writing = new WeakMap<PoolClient, GiveBack>();

  /** `pool` is asked for late: TypeORM makes it when the DataSource is opened. `onOver` is called when a trouble is over. */
  constructor(
    private readonly driver: typeof pg,
    private readonly options: PostgresOptions,
    private readonly pool: () => Pool,
    onOver: () => void,
  ) {
    const { host, port, database } = options.address;
    const name = `PostgreSQL (${host}:${port}, database ${database})`;
    this.places = writePlaces(options.pool);
    this.late = new LateCommits(
      name,
      options.statementTimeoutMs,
      this.places.most,
      () => this.isCommitting(),
      (fault) => this.places.refuse(fault),
    );
    this.troubles = new PostgresTroubles(
      name,
      (wasFull) => this.attempt(wasFull),
      () => {
        // Closes those that are idle on its way to one that is not outdated.
        this.connected().then((client) => client.release(), ignored);
        onOver();
      },
      () => this.late.fault !== undefined,
    );
  }

  /** How the connections are used now. */
  get load(): ConnectionLoad {
    const { totalCount, idleCount, waitingCount } = this.pool();
    return {
      inUse: totalCount - idleCount,
      idle: idleCount,
      waiting: waitingCount + this.places.load.waiting,
      most: this.options.pool,
    };
  }

  /** A connection for a read, which is to be given back. Throws service_unavailable when there is none. */
  take(): Promise<PoolClient> {
    return this.taken(() => this.connected());
  }

  /** The same for what commits. Not all connections are in writes at the same time, so that reads go on while commits hang. */
  async takeToWrite(): Promise<PoolClient> {
    const fault = this.troubles.fault ?? this.late.fault;
    if (fault) throw fault;
    return this.taken(() => this.connectedToWrite());
  }

  private async taken(connect: () => Promise<PoolClient>): Promise<PoolClient> {
    const { fault } = this.troubles;
    if (fault) throw fault;
    try {
      const client = await connect();
      client.on('error', ignored);
      return client;
    } catch (error) {
      throw this.troubles.note(error);
    }
  }

  private async connectedToWrite(): Promise<PoolClient> {
    const giveBack = await this.places.take();
    try {
      const client = await this.connected();
      this.writing.set(client, giveBack);
      return client;
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  /** One that is no older than the last trouble. */
  private async connected(): Promise<PoolClient> {
    const client = await this.pool().connect();
    if (!this.troubles.outdates(client)) return client;
    client.release(true);
    return this.connected();
  }

  /** Gives a connection back; one that is broken is closed, and one whose commit is late once that is over. */
  giveBack(client: PoolClient, isBroken: boolean): void {
    const over = this.late.over(client);
    if (over) void over.then(() => this.release(client, true));
    else this.release(client, isBroken);
  }

  /** Waits for nothing any more. */
  end(): void {
    this.troubles.end();
    this.late.giveUp();
  }

  private release(client: PoolClient, isBroken: boolean): void {
    client.off('error', ignored);
    client.release(isBroken || this.troubles.outdates(client));
    this.writing.get(client)?.();
    this.writing.delete(client);
  }

  /** Whether the server may be at a commit; when it cannot be asked nobody knows. */
  private async isCommitting(): Promise<boolean> {
    const client = await this.take().catch(ignored);
    if (!client) return true;
    try {
      const { rows } = await client.query<{ committing: boolean }>(IS_COMMITTING);
      this.giveBack(client, false);
      return rows[0]?.committing !== false;
    } catch (error) {
      this.troubles.note(error, client);
      this.giveBack(client, true);
      return true;
    }
  }

  /** Connects anew: the connections of the pool may be dead without knowing it. Of a disk that was full, a page is asked for. */
  private async attempt(wasFull: boolean): Promise<Found> {
    const client = new this.driver.Client({
      ...clientConfig(this.options),
      query_timeout: CONNECT_TIMEOUT_MS,
    });
    client.on('error', ignored);
    try {
      await client.connect();
      const { rows } = await client.query<{ reads: boolean }>(
        `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool AS reads`,
      );
      if (wasFull) await client.query(TAKES_A_PAGE);
      return rows[0]?.reads === true ? 'reads' : 'writes';
    } catch (error) {
      if (isFull(error)) return 'reads';
      // A user who may make no temporary tables learns it by the next write.
      if (isDenied(error)) return 'writes';
      throw error;
    } finally {
      client.end().catch(ignored);
    }
  }
}

/** Whether a connection is to be closed after an error. */
export function breaks(error: unknown): boolean {
  const meaning = meaningOf(error);
  return meaning !== 'other' && meaning !== 'busy';
}

/** The statement that runs on the connection is told of it, too. */
function ignored(): void {
  // Nothing to do.
}
