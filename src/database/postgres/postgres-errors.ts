import { certificateRemedy } from '../../core/config/certificates.js';

/** What an error of PostgreSQL, its driver or the network means for the service. */
export type ErrorKind =
  /** The server is unreachable or does not accept connections. */
  | 'unreachable'
  /** A connection was lost; others may be fine. */
  | 'lost'
  /** A connection has not responded in time; others may be fine. */
  | 'late'
  /** The server is readable, but not writable. */
  | 'read-only'
  /** A conflict with other transactions; the same request may succeed a moment later. */
  | 'busy'
  /** A bug in the service, or a violated constraint. */
  | 'other';

/** By SQLSTATE (PostgreSQL manual, appendix A) or its class, and by Node's codes of network errors. */
const ERROR_KINDS: Readonly<Record<string, ErrorKind>> = {
  // Connection exceptions; rejected credentials; a missing database; shutdown and startup.
  '08': 'lost',
  '28': 'unreachable',
  '3D000': 'unreachable',
  '57P01': 'lost',
  '57P02': 'lost',
  '57P03': 'unreachable',
  '57P05': 'lost',
  // Timeouts of an idle or long transaction: the server has ended the session.
  '25P03': 'lost',
  '25P04': 'lost',
  '25006': 'read-only',
  // A full disk and other exhausted resources, such as connections. Open connections keep working.
  '53100': 'read-only',
  '53': 'busy',
  // A statement timed out.
  '57014': 'busy',
  // The server cannot read its files.
  '58': 'busy',
  XX: 'busy',
  // This process or machine has no descriptor, port or memory left for another connection. Open connections keep working.
  EMFILE: 'busy',
  ENFILE: 'busy',
  EADDRNOTAVAIL: 'busy',
  ENOBUFS: 'busy',
  ENOMEM: 'busy',
  EAI_MEMORY: 'busy',
  ECONNREFUSED: 'unreachable',
  EHOSTDOWN: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  ENETUNREACH: 'unreachable',
  // A firewall on this machine.
  EPERM: 'unreachable',
  ENOTFOUND: 'unreachable',
  EAI_AGAIN: 'unreachable',
  EAI_FAIL: 'unreachable',
  ENOENT: 'unreachable',
  EACCES: 'unreachable',
  ECONNABORTED: 'lost',
  ECONNRESET: 'lost',
  EPIPE: 'lost',
  ETIMEDOUT: 'unreachable',
};

/** Errors that the driver reports only by message. */
const MESSAGE_KINDS: readonly (readonly [words: RegExp, meaning: ErrorKind])[] = [
  [/^a commit was not confirmed in time$/, 'late'],
  [/^Query read timeout/, 'unreachable'],
  [/timeout expired|connection timeout/, 'unreachable'],
  // Includes pg's pool, if an idle connection is lost while it is being checked out.
  [/^timeout exceeded when trying to connect|^a statement waited/, 'busy'],
  [/^Connection terminated|not queryable|Client was closed/, 'lost'],
  [/self.signed certificate|certificate|SSL/, 'unreachable'],
];

/** SQLSTATE of an error, or Node's code; undefined if it has neither. Unwraps TypeORM's errors. */
export function codeOf(error: unknown): string | undefined {
  const { driverError, code } = (error ?? {}) as { driverError?: unknown; code?: unknown };
  if (driverError !== undefined) return codeOf(driverError);
  return typeof code === 'string' ? code : undefined;
}

/** Whether a read-only transaction tried to write. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === '25006';
}

/** Whether an error is the server's response to a statement. */
export function isServerError(error: unknown): boolean {
  return error instanceof Error && 'severity' in error;
}

export function errorKindOf(error: unknown): ErrorKind {
  const code = codeOf(error);
  const known = code === undefined ? undefined : (ERROR_KINDS[code] ?? ERROR_KINDS[code.slice(0, 2)]);
  // With postgres_fdw, the error may be that of another server. The end of a session is FATAL, or 08P01 from a pooler.
  const isOfSession = known === 'unreachable' || known === 'lost';
  if (isOfSession && (error as { severity?: string }).severity === 'ERROR' && code !== '08P01') return 'busy';
  // COPY … FROM STDIN, for which there is no data to send.
  if (code === '57014' && messageOf(error).startsWith('COPY')) return 'other';
  if (known) return known;
  // The message concerns the statement and may contain any name, such as that of a table.
  if (isServerError(error)) return 'other';
  const message = messageOf(error);
  return MESSAGE_KINDS.find(([pattern]) => pattern.test(message))?.[1] ?? 'other';
}

/** Errors that disappear when the server is started or its network returns. */
const UNREACHABLE = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'ETIMEDOUT',
]);

/** Whether no server has responded to a new connection, or the server is starting up, shutting down, or out of connections. */
export function isUnreachable(error: unknown): boolean {
  if (isServerError(error)) return /^(?:53300|57P0[123])$/.test(codeOf(error) ?? '');
  return UNREACHABLE.has(codeOf(error) ?? '') || NO_RESPONSE.test(messageOf(error));
}

/** The message of an error, on one line. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  // Node tries all addresses of a host and collects their errors in one with an empty message.
  const errors = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return (text === '' ? errors.map(messageOf).join('; ') : text).replaceAll(/\s+/g, ' ');
}

/** What an operator should do if a database cannot be opened, by SQLSTATE or Node's code. */
const REMEDIES: Readonly<Record<string, string>> = {
  '3D000': `Create it: CREATE DATABASE <name> OWNER <user> ENCODING 'UTF8' TEMPLATE template0`,
  '28P01': 'Check the user and the password in DATABASE_URL, PGPASSWORD or ~/.pgpass',
  '28000': 'Check the user in DATABASE_URL, and pg_hba.conf of the server',
  '42501': 'Make the user of DATABASE_URL the owner: ALTER DATABASE <name> OWNER TO <user>',
  '53300':
    'Raise max_connections or the CONNECTION LIMIT of the user or the database, or lower DATABASE_POOL of the instances',
  ECONNREFUSED: 'Start the server, or set DATABASE_URL to another server',
  ENOENT:
    'Start the server, or set ?host= in DATABASE_URL to the directory of its socket (unix_socket_directories)',
  ENOTFOUND: 'Check the host in DATABASE_URL',
  EAI_AGAIN: 'Check the host in DATABASE_URL',
};

/** Errors that the driver reports only by message. */
const NO_RESPONSE = /^(?:Connection terminated|timeout expired|connect ETIMEDOUT|Received unexpected)/;
const NO_RESPONSE_REMEDY =
  'Check that PostgreSQL listens and responds at the host and port in DATABASE_URL, and that no firewall blocks it';
const NO_TLS = /server does not support SSL/;
const TLS_REMEDY = 'Turn it on (ssl = on), or remove ?sslmode= from DATABASE_URL';

const TRUST = { url: 'DATABASE_URL', ca: 'DATABASE_CA' };

/** Whether a disk of the server is full. */
export function isFull(error: unknown): boolean {
  return codeOf(error) === '53100';
}

/** Whether the user of DATABASE_URL lacks a privilege. */
export function isDenied(error: unknown): boolean {
  return codeOf(error) === '42501';
}

/** Why a database cannot be opened and what to do, on one line. */
export function openingFailure(error: unknown): string {
  const remedy =
    REMEDIES[codeOf(error) ?? ''] ??
    certificateRemedy(error, TRUST) ??
    (NO_TLS.test(messageOf(error)) ? TLS_REMEDY : undefined) ??
    (NO_RESPONSE.test(messageOf(error)) ? NO_RESPONSE_REMEDY : undefined);
  return `${messageOf(error)}${remedy === undefined ? '' : `. ${remedy}.`}`;
}
