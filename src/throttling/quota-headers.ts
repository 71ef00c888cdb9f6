import { tightestWindow, violatedWindow, type QuotaVerdict, type WindowState } from './quota.js';

/**
 * The rate-limit headers of a verdict: the specification's `X-RateLimit-*` for the one window that matters,
 * both windows in the IETF form (draft-ietf-httpapi-ratelimit-headers), `Retry-After` on a refusal.
 */
export function quotaHeaders(verdict: QuotaVerdict): Record<string, string> {
  const shown = violatedWindow(verdict) ?? tightestWindow(verdict);
  if (!shown) return {};
  const { bannedUntil } = verdict;
  const resetsAt = bannedUntil ?? shown.resetsAt;
  const headers: Record<string, string> = {
    'X-RateLimit-Limit': String(shown.limit),
    // A banned key has none, whatever its client has left.
    'X-RateLimit-Remaining': String(bannedUntil === undefined ? shown.remaining : 0),
    'X-RateLimit-Reset': String(Math.ceil(resetsAt / 1000)),
    'RateLimit-Policy': verdict.windows.map(policyOf).join(', '),
    RateLimit: verdict.windows.map((window) => stateOf(window, verdict.at)).join(', '),
  };
  if (!verdict.admitted) headers['Retry-After'] = String(secondsUntil(resetsAt, verdict.at));
  return headers;
}

function policyOf(window: WindowState): string {
  return `"${window.name}";q=${window.limit};w=${window.lengthMs / 1000}`;
}

function stateOf(window: WindowState, now: number): string {
  return `"${window.name}";r=${window.remaining};t=${secondsUntil(window.resetsAt, now)}`;
}

/** Whole seconds, at least 1, and never before the instant: waiting that long is always enough. */
function secondsUntil(instant: number, now: number): number {
  return Math.max(1, Math.ceil((instant - now) / 1000));
}
