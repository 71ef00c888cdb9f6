import { ApiError } from '../core/errors/api-error.js';
import { unavailable } from '../database/unavailable.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/time/duration.js';
import { type QuotaVerdict, violatedWindow } from './quota.js';
import { THROTTLING_ERRORS } from './throttling.errors.js';

const SECOND = ['second', 1_000] as const;
const UNITS = [['day', DAY_MS], ['hour', HOUR_MS], ['minute', MINUTE_MS], SECOND] as const;

/** Converts a store's failure to service_unavailable; an ApiError of the store is returned unchanged. */
export function refusalOfFailure(error: unknown, reason = 'the quota cannot be read'): ApiError {
  return error instanceof ApiError ? error : unavailable(reason, error);
}

/** The error for a refused request. `seconds` is its `Retry-After`, `per` the window in its message (by default its length). */
export function refusalOf(verdict: QuotaVerdict, seconds: string, per?: string): ApiError {
  if (verdict.bannedUntil !== undefined) {
    const until = new Date(verdict.bannedUntil).toISOString();
    return new ApiError(THROTTLING_ERRORS.api_key_banned, { params: { until, seconds } });
  }
  const window = violatedWindow(verdict);
  const row =
    window?.lengthMs === DAY_MS
      ? THROTTLING_ERRORS.daily_quota_exceeded
      : THROTTLING_ERRORS.rate_limit_exceeded;
  const limit = window?.limit ?? 0;
  return new ApiError(row, {
    params: {
      requests: limit === 1 ? '1 request' : `${limit} requests`,
      window: per ?? (window ? spanOf(window.lengthMs) : 'window'),
      seconds,
    },
  });
}

/** A duration in words that complete "per …": `minute`, `2 hours`, `20 seconds`. */
function spanOf(lengthMs: number): string {
  const [unit, unitMs] = UNITS.find(([, ms]) => lengthMs % ms === 0) ?? SECOND;
  return lengthMs === unitMs ? unit : `${lengthMs / unitMs} ${unit}s`;
}
