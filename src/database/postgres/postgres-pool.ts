import { readFileSync } from 'node:fs';
import type { ClientConfig, Pool, PoolClient } from 'pg';
import type pg from 'pg';
import type { PostgresAddress } from '../../config/database-url.js';
import { meaningOf } from './postgres-errors.js';
import { type Found, PostgresTroubles } from './postgres-troubles.js';

/** How long making a connection, or waiting for one, may take, in milliseconds. */
export const CONNECT_TIMEOUT_MS = 2_000;
/** How much longer than the server this process waits for the end of a statement, in milliseconds. */
const ANSWER_LATE_MS = 500;
/** How long a transaction may wait for its next statement, in milliseconds: longer than any wait of the service itself. */
const IDLE_IN_TRANSACTION_MS = 15_000;
/** How long an unused connection stays open, in milliseconds. */
const IDLE_MS = 60_000;

/** What is set for connections. */
export interface PostgresOptions {
  readonly address: PostgresAddress;
  /** File with the certificates that are trusted. */
  readonly ca: string | null;
  /** Most connections. */
  readonly pool: number;
  /** In milliseconds; 0 for no limit. */
  readonly statementTimeoutMs: number;
}

/** The settings of each connection, as pg takes them. */
export function clientConfig({ address, ca, statementTimeoutMs }: PostgresOptions): ClientConfig {
  const { host, port, user, password, database, sslMode } = address;
  return {
    host,
    port,
    user,
    ...(password === undefined ? {} : { password }),
    database,
    ssl: sslMode !== 'disable' && {
      rejectUnauthorized: sslMode !== 'require',
      ...(ca === null ? {} : { ca: readFileSync(ca, 'utf8') }),
      // verify-ca trusts the certificate whatever host it names.
      ...(sslMode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
    },
    application_name: 'petstore',
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
export function poolExtra(options: PostgresOptions): object {
  return { ...clientConfig(options), max: options.pool, idleTimeoutMillis: IDLE_MS, pipeline: true };
}

/** The connections to PostgreSQL, and whether it answers. While it does not, requests are refused at once. */
export class PostgresPool {
  readonly troubles: PostgresTroubles;

  /** `pool` is asked for late: TypeORM makes it when the DataSource is opened. */
  constructor(
    private readonly driver: typeof pg,
    private readonly options: PostgresOptions,
    private readonly pool: () => Pool,
  ) {
    const { host, port, database } = options.address;
    this.troubles = new PostgresTroubles(
      `PostgreSQL (${host}:${port}, database ${database})`,
      () => this.attempt(),
      () => void this.dropIdle(),
    );
  }

  /** A connection, which is to be given back. Throws service_unavailable when there is none. */
  async take(): Promise<PoolClient> {
    const { fault } = this.troubles;
    if (fault) throw fault;
    try {
      const client = await this.pool().connect();
      client.on('error', ignored);
      return client;
    } catch (error) {
      throw this.troubles.note(error);
    }
  }

  /** Gives a connection back; one that is broken is closed. */
  giveBack(client: PoolClient, isBroken: boolean): void {
    client.off('error', ignored);
    client.release(isBroken);
  }

  /** Connects anew: the connections of the pool may be dead without knowing it. */
  private async attempt(): Promise<Found> {
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
      return rows[0]?.reads === true ? 'reads' : 'writes';
    } finally {
      client.end().catch(ignored);
    }
  }

  /** Closes what is idle: it may lead to a server that is gone, or that no longer writes. */
  private async dropIdle(): Promise<void> {
    const pool = this.pool();
    const idle = await Promise.allSettled(Array.from({ length: pool.idleCount }, () => pool.connect()));
    for (const client of idle) if (client.status === 'fulfilled') client.value.release(true);
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
