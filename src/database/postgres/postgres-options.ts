import pg from 'pg';
import type { SessionOfPassword } from 'pgpass';
import { readCertificates } from '../../core/config/certificates.js';
import type { PostgresAddress } from '../../core/config/database-url.js';

/** How long a connection, a wait for one, or a statement of a session beside the pool may take, in milliseconds. */
const LIMIT_MS = 1_000;
/** How long a transaction may wait for its next statement, in milliseconds: the process itself ends it earlier, unless it hangs. */
const IDLE_IN_TRANSACTION_MS = 20_000;
/** Idle time after which the system probes the connection (TCP keep-alive), in milliseconds. */
const KEEP_ALIVE_MS = 10_000;
/** How much longer than the server this process waits for the end of a statement, in milliseconds. */
export const RESPONSE_GRACE_MS = 500;

/**
 * What a role or a database may have set for its sessions, and the service relies on: a transaction sees what was committed before
 * its current statement, and the server ends no session that idles.
 */
export const SESSION = `SET default_transaction_isolation TO 'read committed';
  SELECT set_config('idle_session_timeout', '0', false) WHERE current_setting('idle_session_timeout', true) IS NOT NULL`;
/** The same for a session without limits. */
export const UNLIMITED_SESSION = `${SESSION}; SET statement_timeout TO 0; SET idle_in_transaction_session_timeout TO 0`;
/** The server notices within 25 s that the machine of a session is gone, instead of two hours: until then its locks are held. */
const KEEP_ALIVE =
  'SET tcp_keepalives_idle TO 10; SET tcp_keepalives_interval TO 5; SET tcp_keepalives_count TO 3';

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
      // verify-ca trusts the certificate whatever host it names.
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
 * The password for a URL without one, of PGPASSWORD or of the file that libpq reads (PGPASSFILE, `~/.pgpass`). Without one, a wrong one,
 * which the server refuses at once: with an empty one, pg leaves the connection open. Called when the server demands a password. pg itself would warn that it is going to stop reading the file.
 */
async function externalPassword(session: SessionOfPassword): Promise<string> {
  const { PGPASSWORD = '' } = process.env;
  if (PGPASSWORD !== '') return PGPASSWORD;
  const { default: find } = await import('pgpass');
  return new Promise((resolve) => find(session, (password = 'none') => resolve(password)));
}

/** Opens a session beside the pool, which may idle for as long as the process lives; `name` is its application_name. */
export async function openSession(options: PostgresOptions, name = options.sessionName): Promise<pg.Client> {
  const client = new pg.Client({
    ...clientConfig({ ...options, sessionName: name, statementTimeoutMs: 0 }),
    statement_timeout: LIMIT_MS,
    query_timeout: LIMIT_MS,
  });
  // The statement that runs on it fails, too.
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
