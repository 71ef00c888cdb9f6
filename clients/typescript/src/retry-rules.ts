import { ConnectionError, PetstoreError, UnexpectedResponseError } from './errors.js';

/** Without `Retry-After` the first wait is up to this long, in milliseconds, and each further one up to twice as long. */
export const FIRST_WAIT_MS = 1_000;
/** But no longer than this. */
export const LONGEST_WAIT_MS = 30_000;
/** What is added by chance to a `Retry-After`, at most, in milliseconds. */
export const JITTER_MS = 1_000;

/** Statuses after which it is unknown whether the request was carried out. */
const UNKNOWN_OUTCOME: ReadonlySet<number> = new Set([408, 500, 502, 503, 504]);

/** What may be done after a failed attempt. */
export type Retry =
  /** Nothing: the error is final. */
  | 'never'
  /** It was not carried out, and the service said when to come back. */
  | 'told'
  /** It may be repeated because that is safe; the service may be in trouble. */
  | 'trouble';

/**
 * Whether a request may be repeated after an error. A 429 was never carried out. After what leaves the outcome unknown a request is
 * repeated only if that is safe: it changes nothing, or has an Idempotency-Key.
 */
export function retryAfter(error: unknown, isSafe: boolean): Retry {
  if (error instanceof ConnectionError) return isSafe ? 'trouble' : 'never';
  if (!(error instanceof PetstoreError || error instanceof UnexpectedResponseError)) return 'never';
  if (error.status === 429) return 'told';
  if (error.status === 409)
    return isSafe &&
      error instanceof PetstoreError &&
      error.code === 'idempotency_in_progress' &&
      error.retryAfterMs !== undefined
      ? 'told'
      : 'never';
  return isSafe && UNKNOWN_OUTCOME.has(error.status) ? 'trouble' : 'never';
}

/**
 * How long to wait before attempt number `attempt` + 1, in milliseconds: what the service said and some more by chance; if it said
 * nothing, by chance up to a bound that doubles.
 */
export function waitBefore(error: unknown, attempt: number, random: () => number): number {
  const told = toldMs(error);
  if (told !== undefined) return told + random() * JITTER_MS;
  return random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
}

function toldMs(error: unknown): number | undefined {
  return error instanceof PetstoreError || error instanceof UnexpectedResponseError
    ? error.retryAfterMs
    : undefined;
}
