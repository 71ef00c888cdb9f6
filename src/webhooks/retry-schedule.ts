import { HOUR_MS, MINUTE_MS } from '../core/time/duration.js';

/** Delays after each consecutive failure, in milliseconds (Standard Webhooks 1.0, "Retry schedule"). */
export const RETRY_DELAYS: readonly number[] = [
  5_000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
/** Maximum random extension of a delay, as a fraction, so that messages that failed together are not retried together. */
const JITTER = 0.1;
/** Maximum Retry-After that is respected, in milliseconds. */
const MAX_RETRY_AFTER = 24 * HOUR_MS;

/** Milliseconds until the next attempt after this number of failures, at least as long as `Retry-After`; undefined after the last. */
export function webhookRetryDelay(failures: number, retryAfter: number): number | undefined {
  const delay = RETRY_DELAYS[failures - 1];
  if (delay === undefined) return undefined;
  return Math.round(Math.max(delay, Math.min(retryAfter, MAX_RETRY_AFTER)) * (1 + JITTER * Math.random()));
}

/** The wait in a Retry-After header, in milliseconds (RFC 9110 section 10.2.3); 0 if it is malformed or past. */
export function retryAfterOf(value: string | undefined, now: number): number {
  if (value === undefined) return 0;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}
