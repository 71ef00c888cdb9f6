import { certificateRemedy } from '../../core/config/certificates.js';

const TRUST = { url: 'REDIS_URL', ca: 'REDIS_CA' };
/** Remedies for errors of Redis or the network, by a part of the message or by code. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /WRONGPASS|NOAUTH|invalid password/,
    'Check the user and the password in REDIS_URL; percent-encode special characters',
  ],
  [/DB index/, 'Check the number of the database in REDIS_URL'],
  [/SELECT is not allowed in cluster mode/, 'Use redis+cluster:// in REDIS_URL'],
  [/wrong version number/i, 'The server does not use TLS there: check the port, or use redis: in REDIS_URL'],
  [/ENOTFOUND|EAI_AGAIN/, 'Check the host in REDIS_URL'],
];

/** The remedy for an error of Redis or its connection; undefined if the error is clear enough. */
export function remedyFor(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  const described = `${code ?? ''} ${error.message}`;
  return REMEDIES.find(([pattern]) => pattern.test(described))?.[1] ?? certificateRemedy(error, TRUST);
}

/** Messages of ioredis for a command whose connection was closed before or after it was sent. */
const CLOSED = /^(?:Stream isn't writeable|Reached the max retries|Connection is closed|Cluster isn't ready)/;

/** An error message for the log, without the script position that Redis appends, and with the remedy if known. */
export function describedReason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (CLOSED.test(text)) return 'the connection was closed';
  if (text === 'Command timed out') return 'no response within REDIS_TIMEOUT_MS';
  const reason = text.replace(/\.? script: [0-9a-f]{40}.*$/, '');
  const remedy = remedyFor(error);
  return remedy === undefined ? reason : `${reason.replace(/\.$/, '')}. ${remedy}`;
}
