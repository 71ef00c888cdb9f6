import { ENCODED, hostOf, readServerUrl } from './server-url.js';

/** TLS modes of a connection to PostgreSQL, with libpq's names (PostgreSQL manual, "SSL Support"). */
export const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

/** Where a PostgreSQL database is. */
export interface PostgresAddress {
  readonly kind: 'postgres';
  /** A host name, an IP address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Undefined if there is none. */
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

/** Allowed forms of a PostgreSQL URL, to complete "must be …". */
export const POSTGRES_URL_ALLOWED =
  'postgres://user:password@host:port/database, where ?sslmode= may be ' +
  `${SSL_MODES.slice(0, -1).join(', ')} or ${SSL_MODES.at(-1)}; ${ENCODED}`;
/** Allowed forms of DATABASE_URL, to complete "must be …". */
export const DATABASE_URL_ALLOWED = `sqlite:<file>, sqlite::memory: or ${POSTGRES_URL_ALLOWED}`;

/** Default of DATABASE_POOL. */
export const DEFAULT_POOL = 10;
/**
 * Default of DATABASE_STATEMENT_TIMEOUT_MS. Together with a second's wait for a connection to look up the key, and another for the
 * statement, a request is refused within 5 s.
 */
export const DEFAULT_STATEMENT_TIMEOUT_MS = 2_000;

const DEFAULT_PORT = 5432;
/** Placeholder for a missing host, as in URLs with the folder of a socket in `?host=`. */
const NO_HOST = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?=(?::\d*)?\/)/;

/** Parses a DATABASE_URL; undefined if it is invalid. */
export function readDatabaseUrl(text: string): PostgresAddress | SqliteAddress | undefined {
  // SQLite would not treat ? or # as part of the path, and with a trailing slash only the first start would find the file.
  const [, file] = /^sqlite:([^?#\p{Cc}]*[^?#\p{Cc}/])$/u.exec(text) ?? [];
  if (file !== undefined) return { kind: 'sqlite', file };
  // In PostgreSQL's protocol, NUL ends text, so the characters after it would be misread.
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

/** The character in a URL that the path of an SQLite file must not contain or end with; undefined if there is none. */
export function sqlitePathError(text: string): string | undefined {
  const [, character] = /^sqlite:[^?#\p{Cc}]*([?#\p{Cc}])/u.exec(text) ?? [];
  if (character === undefined)
    return /^sqlite:.*\/$/.test(text) ? 'The path of an SQLite file must not end with /.' : undefined;
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  const shown = /[?#]/.test(character) ? character : `the control character U+${code}`;
  return `The path of an SQLite file must not contain ${shown}.`;
}

/** A DATABASE_URL without its password, for display. */
export function redactedDatabaseUrl(text: string): string {
  return text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*?):.*@/s, '$1@');
}
