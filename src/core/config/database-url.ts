import {
  ENCODE,
  UrlFault,
  decoded,
  faultOf,
  hostOf,
  orUndefined,
  partsOf,
  readCredentials,
  readHost,
  readParameters,
  refuseControls,
} from './url-parts.js';

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

/** What the URL of a PostgreSQL database may be, in words that complete "must be …". */
export const POSTGRES_URL_ALLOWED =
  'postgres://user:password@host:port/database, where ?sslmode= may be ' +
  `${SSL_MODES.slice(0, -1).join(', ')} or ${SSL_MODES.at(-1)}`;
/** What DATABASE_URL may be, in words that complete "must be …". */
export const DATABASE_URL_ALLOWED = `sqlite:<file>, sqlite::memory: or ${POSTGRES_URL_ALLOWED}`;

/** Connections to PostgreSQL unless DATABASE_POOL says otherwise. */
export const DEFAULT_POOL = 10;
/** Longest time of a statement unless DATABASE_STATEMENT_TIMEOUT_MS says otherwise, in milliseconds. */
export const DEFAULT_STATEMENT_TIMEOUT_MS = 4_000;

const DEFAULT_PORT = 5432;
/** What may follow the question mark of a PostgreSQL URL; anything else would be ignored in silence. */
const POSTGRES_PARAMETERS = ['sslmode', 'host'];
const HOST = {
  several: 'one server alone may stand there; name the one that writes, or an address that leads to it',
  elsewhere: `or the password has a plain /, ? or #; ${ENCODE}`,
};

/** Reads a DATABASE_URL; undefined when it is none. */
export function readDatabaseUrl(text: string): PostgresAddress | SqliteAddress | undefined {
  return orUndefined(() => read(text));
}

/**
 * Which part of a text makes it no DATABASE_URL, and what to do about it, in words that show nothing of the text: any part of it may
 * be one of a password. Empty for a DATABASE_URL.
 */
export function faultOfDatabaseUrl(text: string): string {
  return faultOf(() => read(text));
}

/** A DATABASE_URL as people may see it: without a password, whatever that holds. */
export function shownDatabaseUrl(text: string): string {
  return text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*?):.*@/s, '$1@');
}

function read(text: string): PostgresAddress | SqliteAddress {
  refuseControls(text);
  const [, scheme = '', rest = ''] = /^(sqlite:|postgres(?:ql)?:\/\/)(.*)$/.exec(text) ?? [];
  if (scheme === '') throw new UrlFault('it begins as none of these forms does');
  if (scheme !== 'sqlite:') return readPostgresUrl(rest);
  if (rest === '') throw new UrlFault('the file is missing');
  if (/[?#]/.test(rest))
    throw new UrlFault('the path has a ? or a #, which SQLite would not read as a part of it');
  return { kind: 'sqlite', file: rest };
}

function readPostgresUrl(text: string): PostgresAddress {
  const { credentials = '', hosts, path, query = '', fragment } = partsOf(text);
  // Only the folder of a socket may have a plain @. Any other is that of a password with a plain slash.
  if (`${path}${fragment}`.includes('@') || (query.includes('@') && !/(?:^|&)host=/.test(query)))
    throw new UrlFault(`the user, the password or the database has a plain /, ?, # or @; ${ENCODE}`);
  const { user, password = '' } = readCredentials(credentials);
  // The folder of a socket stands in `?host=`; then the host is missing, and the port may be there.
  if (/^%2f/i.test(hosts))
    throw new UrlFault('the folder of a socket stands behind the ?, as in ?host=/run/postgresql');
  const { host, port } = readHost(
    /^(?::\d*)?$/.test(hosts) ? `localhost${hosts}` : hosts,
    DEFAULT_PORT,
    HOST,
  );
  if (fragment !== undefined) throw new UrlFault('it has a #');
  const database = readDatabase(path);
  const parameters = readParameters(query, POSTGRES_PARAMETERS);
  const sslMode = SSL_MODES.find((mode) => mode === (parameters.get('sslmode') ?? 'disable'));
  if (sslMode === undefined) throw new UrlFault(`sslmode is none of ${SSL_MODES.join(', ')}`);
  const folder = parameters.get('host');
  // PostgreSQL's protocol ends texts with NUL: what follows would be read as something else.
  if ([user, password, database, folder].some((part) => part?.includes('\0')))
    throw new UrlFault('it has a %00, which ends every text for PostgreSQL');
  return {
    kind: 'postgres',
    host: folder === undefined ? host : readFolder(folder),
    port,
    user: user === '' ? 'postgres' : user,
    password: password === '' ? undefined : password,
    database,
    sslMode,
  };
}

function readDatabase(path: string): string {
  const name = path.slice(1);
  if (name === '') throw new UrlFault('the database is missing behind the host, as in host/petstore');
  if (name.includes('/')) throw new UrlFault('the database has a plain /; write it as %2F');
  return decoded('the database', name);
}

function readFolder(text: string): string {
  const host = text.startsWith('/') ? text : hostOf(text.includes(':') ? `[${text}]` : text);
  if (host === undefined)
    throw new UrlFault(
      'behind ?host= stands neither the folder of a socket, which begins with /, nor a host',
    );
  return host;
}
