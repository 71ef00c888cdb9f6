import type { ClientConfig } from 'pg';
import type pg from 'pg';
import { readCertificates } from '../../core/config/certificates.js';
import type { PostgresAddress } from '../../core/config/database-url.js';

/** How long making a connection, or waiting for one, may take, in milliseconds. */
export const CONNECT_TIMEOUT_MS = 1_000;
/** How long a transaction may wait for its next statement, in milliseconds: longer than any wait of the service itself. */
const IDLE_IN_TRANSACTION_MS = 15_000;
/** How long an unused connection stays open, in milliseconds. */
const IDLE_MS = 60_000;
/** Idle time after which the system probes the connection (TCP keep-alive), in milliseconds. */
const KEEP_ALIVE_MS = 10_000;
/** How much longer than the server this process waits for the end of a statement, in milliseconds. */
export const ANSWER_LATE_MS = 500;

/**
 * What a role or a database may have set for its sessions, and the service relies on: a transaction sees what was committed before
 * its current statement, and the server ends no session that idles.
 */
export const SESSION = `SET default_transaction_isolation TO 'read committed';
  SELECT set_config('idle_session_timeout', '0', false) WHERE current_setting('idle_session_timeout', true) IS NOT NULL`;
/** The same for a session without limits. */
const PATIENT = `${SESSION}; SET statement_timeout TO 0; SET idle_in_transaction_session_timeout TO 0`;

/** What is set for connections. */
export interface PostgresOptions {
  readonly address: PostgresAddress;
  /** application_name of its sessions. */
  readonly sessionName: string;
  /** File with the certificates that are trusted. */
  readonly ca: string | null;
  /** Maximum number of connections. */
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
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
}

/** A connection that knows when it was begun, by `performance.now()`. */
export interface TimedConnection {
  readonly begunAt: number;
}

/** Options that TypeORM passes to pg for its pool, besides the address. */
export function poolExtra(driver: typeof pg, options: PostgresOptions): object {
  const Client = class extends driver.Client implements TimedConnection {
    readonly begunAt = performance.now();

    constructor(config?: ClientConfig) {
      super(config);
      // The statement that runs on it fails, too.
      this.on('error', () => undefined);
      // Sent before the first statement of the request that waits for the connection.
      this.once('connect', () => {
        this.query(options.statementTimeoutMs === 0 ? PATIENT : SESSION).catch(() => undefined);
      });
    }
  };
  return { ...clientConfig(options), Client, max: options.pool, idleTimeoutMillis: IDLE_MS, pipeline: true };
}
