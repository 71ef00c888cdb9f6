import { ENCODED, hostOf, readServerUrl } from './server-url.js';

/** How a connection to PostgreSQL is encrypted, as libpq names it (PostgreSQL manual, "SSL Support"). */
export const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
/** One of SSL_MODES. */
export type SslMode = (typeof SSL_MODES)[number];

/** Where a PostgreSQL database is. */
export interface PostgresAddress {
  readonly kind: 'postgres';
  /** A host name, an IP address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Undefined where the server asks for none. */
  readonly password: string | undefined;
  readonly database: string;
  readonly sslMode: SslMode;
}

/** Where an SQLite database is. */
export interface SqliteAddress {
  readonly kind: 'sqlite';
  /** A path, or `:memory:`. */
  readonly file: string;
}

/** Allowed forms of a PostgreSQL URL, in words that complete "must be …". */
export const POSTGRES_URL_ALLOWED =
  'postgres://user:password@host:port/database, where ?sslmode= may be ' +
  `${SSL_MODES.slice(0, -1).join(', ')} or ${SSL_MODES.at(-1)}; ${ENCODED}`;
/** Allowed forms of DATABASE_URL, in words that complete "must be …". */
export const DATABASE_URL_ALLOWED = `sqlite:<file>, sqlite::memory: or ${POSTGRES_URL_ALLOWED}`;

/** Connections to PostgreSQL unless DATABASE_POOL says otherwise. */
export const DEFAULT_POOL = 10;
/**
 * Longest time of a statement unless DATABASE_STATEMENT_TIMEOUT_MS says otherwise, in milliseconds. With a second's wait for a
 * connection to look the key up, and another for the statement, a request is refused within 5 s.
 */
export const DEFAULT_STATEMENT_TIMEOUT_MS = 2_000;

const DEFAULT_PORT = 5432;
/** Placeholder for a missing host, as in URLs with the folder of a socket in `?host=`. */
const NO_HOST = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?=(?::\d*)?\/)/;

/** Reads a DATABASE_URL; undefined for anything else. */
export function readDatabaseUrl(text: string): PostgresAddress | SqliteAddress | undefined {
  // SQLite would not read a ? or a # as a part of the path, and with a / at its end only the first start would find the file.
  const [, file] = /^sqlite:([^?#\p{Cc}]*[^?#\p{Cc}/])$/u.exec(text) ?? [];
  if (file !== undefined) return { kind: 'sqlite', file };
  // PostgreSQL's protocol ends texts with NUL: what follows would be read as something else.
  if (!/^postgres(?:ql)?:\/\//.test(text) || text.includes('%00')) return undefined;
  const url = readServerUrl(text.replace(NO_HOST, '$1localhost'), DEFAULT_PORT, ['sslmode', 'host']);
  const [database = '', ...more] = url?.path ?? [];
  const sslMode = SSL_MODES.find((mode) => mode === (url?.parameters.get('sslmode') ?? 'disable'));
  const other = url?.parameters.get('host') ?? url?.host ?? '';
  const host = other.startsWith('/') ? other : hostOf(other);
  if (!url || database === '' || more.length > 0 || !sslMode || host === undefined) return undefined;
  const { port, user, password } = url;
  return {
    kind: 'postgres',
    host,
    port,
    user: user || 'postgres',
    password: password || undefined,
    database,
    sslMode,
  };
}

/** Which character of a URL no path of an SQLite file may have, or not at its end; undefined without one. */
export function faultOfSqlitePath(text: string): string | undefined {
  const [, character] = /^sqlite:[^?#\p{Cc}]*([?#\p{Cc}])/u.exec(text) ?? [];
  if (character === undefined)
    return /^sqlite:.*\/$/.test(text) ? 'The path of an SQLite file must not end with /.' : undefined;
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  const shown = /[?#]/.test(character) ? character : `the control character U+${code}`;
  return `The path of an SQLite file must not contain ${shown}.`;
}

/** A DATABASE_URL without its password, for output. */
export function shownDatabaseUrl(text: string): string {
  return text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*?):.*@/s, '$1@');
}
