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

/** What DATABASE_URL may be, in words that complete "must be …". */
export const DATABASE_URL_ALLOWED =
  'sqlite:<file>, sqlite::memory: or postgres://user:password@host:port/database, where ?sslmode= may be ' +
  `${SSL_MODES.slice(0, -1).join(', ')} or ${SSL_MODES.at(-1)}`;

/** Connections to PostgreSQL unless DATABASE_POOL says otherwise. */
export const DEFAULT_POOL = 10;
/** Longest time of a statement unless DATABASE_STATEMENT_TIMEOUT_MS says otherwise, in milliseconds. */
export const DEFAULT_STATEMENT_TIMEOUT_MS = 4_000;

const DEFAULT_PORT = 5432;
/** What may follow the question mark; anything else would be ignored in silence. */
const PARAMETERS = new Set(['sslmode', 'host']);

/** Reads a DATABASE_URL; undefined when it is none. */
export function readDatabaseUrl(text: string): PostgresAddress | SqliteAddress | undefined {
  if (/^sqlite:[^?#]+$/.test(text)) return { kind: 'sqlite', file: text.slice('sqlite:'.length) };
  return /^postgres(?:ql)?:\/\//.test(text) ? readPostgresUrl(text) : undefined;
}

/** A DATABASE_URL as people may see it: without a password. */
export function shownDatabaseUrl(text: string): string {
  return text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*?):.*@/, '$1@');
}

function readPostgresUrl(text: string): PostgresAddress | undefined {
  // A folder of a socket stands in `?host=`; a URL needs a host.
  const withHost = text.replace(/^([^:]+:\/\/(?:[^/@]*@)?)(?=\/|:\d*\/)/, '$1localhost');
  if (!URL.canParse(withHost)) return undefined;
  const url = new URL(withHost);
  const names = [...url.searchParams.keys()];
  const sslMode = SSL_MODES.find((mode) => mode === (url.searchParams.get('sslmode') ?? 'disable'));
  const database = decoded(url.pathname.slice(1));
  const user = decoded(url.username) ?? '';
  const password = decoded(url.password);
  if (url.hash !== '' || sslMode === undefined || new Set(names).size < names.length) return undefined;
  if (names.some((name) => !PARAMETERS.has(name)) || !database || database.includes('/')) return undefined;
  if (password === undefined) return undefined;
  return {
    kind: 'postgres',
    host: url.searchParams.get('host') ?? url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    user: user === '' ? 'postgres' : user,
    password: password === '' ? undefined : password,
    database,
    sslMode,
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
