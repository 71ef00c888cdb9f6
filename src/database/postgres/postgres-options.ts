import pg from 'pg';
import type { SessionOfPassword } from 'pgpass';
import { readCertificates } from '../../core/config/certificates.js';
import type { PostgresAddress } from '../../core/config/database-url.js';

/** Time limit to connect, to wait for a connection, and for a statement outside of the pool, in milliseconds. */
const LIMIT_MS = 1_000;
/** How long a transaction may wait for its next statement, in milliseconds. The process itself ends it earlier, unless it hangs. */
const IDLE_IN_TRANSACTION_MS = 20_000;
/** Idle time after which the system probes the connection (TCP keep-alive), in milliseconds. */
const KEEP_ALIVE_MS = 10_000;
/** How much longer than the server this process waits for the end of a statement, in milliseconds. */
export const RESPONSE_GRACE_MS = 500;

/**
 * Overrides session defaults of a role or database, because a transaction must see everything committed before its current statement, and
 * the server must not end idle sessions.
 */
export const SESSION = `SET default_transaction_isolation TO 'read committed';
  SELECT set_config('idle_session_timeout', '0', false) WHERE current_setting('idle_session_timeout', true) IS NOT NULL`;
/** The same without timeouts. */
export const UNLIMITED_SESSION = `${SESSION}; SET statement_timeout TO 0; SET idle_in_transaction_session_timeout TO 0`;
/** The server detects within 25 s, instead of two hours, that a session's machine is gone. Until then, its locks are held. */
const KEEP_ALIVE =
  'SET tcp_keepalives_idle TO 10; SET tcp_keepalives_interval TO 5; SET tcp_keepalives_count TO 3';

/** Options of the connections. */
export interface PostgresOptions {
  readonly address: PostgresAddress;
  /** application_name of its sessions. */
  readonly sessionName: string;
  /** File with CA certificates. */
  readonly ca: string | null;
  readonly pool: number;
  /** In milliseconds; 0 for no limit. */
  readonly statementTimeoutMs: number;
}

/** The configuration of each connection for pg. */
export function clientConfig({
  address,
  sessionName,
  ca,
  statementTimeoutMs,
}: PostgresOptions): pg.ClientConfig {
  const { host, port, user, password, database, sslMode } = address;
  return {
    host,
    port,
    user,
    password: password ?? (() => externalPassword({ host, port, database, user })),
    database,
    ssl: sslMode !== 'disable' && {
      rejectUnauthorized: sslMode !== 'require',
      ...(ca === null ? {} : { ca: readCertificates('DATABASE_CA', ca) }),
      // verify-ca accepts a trusted certificate for any host name.
      ...(sslMode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
    },
    application_name: sessionName,
    connectionTimeoutMillis: LIMIT_MS,
    ...(statementTimeoutMs === 0
      ? {}
      : {
          statement_timeout: statementTimeoutMs,
          query_timeout: statementTimeoutMs + RESPONSE_GRACE_MS,
          idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
        }),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
}

/**
 * The password for a URL without one, from PGPASSWORD or libpq's password file (PGPASSFILE, `~/.pgpass`). If there is none, returns a wrong
 * password, which the server rejects immediately. With an empty password, pg would leave the connection open. Called if the server asks for
 * a password. pg itself would log a deprecation warning about the file.
 */
async function externalPassword(session: SessionOfPassword): Promise<string> {
  const { PGPASSWORD = '' } = process.env;
  if (PGPASSWORD !== '') return PGPASSWORD;
  const { default: find } = await import('pgpass');
  return new Promise((resolve) => find(session, (password = 'none') => resolve(password)));
}

/** Opens a session outside of the pool, which may stay idle for the lifetime of the process; `name` is its application_name. */
export async function openSession(options: PostgresOptions, name = options.sessionName): Promise<pg.Client> {
  const client = new pg.Client({
    ...clientConfig({ ...options, sessionName: name, statementTimeoutMs: 0 }),
    statement_timeout: LIMIT_MS,
    query_timeout: LIMIT_MS,
  });
  // The running statement fails as well.
  client.on('error', ignored);
  try {
    await client.connect();
    await client.query(`${KEEP_ALIVE}; ${SESSION}`);
    return client;
  } catch (error) {
    client.end().catch(ignored);
    throw error;
  }
}

const ignored = (): void => undefined;
