import { tightestWindow, type QuotaVerdict, type WindowState } from './quota.js';

/**
 * The rate-limit headers of a verdict: the specification's `X-RateLimit-*` for the one window that matters,
 * both windows in the IETF form (draft-ietf-httpapi-ratelimit-headers), `Retry-After` on a refusal.
 */
export function quotaHeaders(verdict: QuotaVerdict): Record<string, string> {
  const windows = windowsForKey(verdict);
  // After a refusal this is the full window that resets last, so that waiting for it is enough.
  const shown = tightestWindow(windows);
  if (!shown) return {};
  const headers: Record<string, string> = {
    'X-RateLimit-Limit': String(shown.limit),
    'X-RateLimit-Remaining': String(shown.remaining),
    'X-RateLimit-Reset': String(Math.ceil(shown.resetsAt / 1000)),
    'RateLimit-Policy': windows.map(policyOf).join(', '),
    RateLimit: windows.map((window) => stateOf(window, verdict.at)).join(', '),
  };
  if (!verdict.admitted) headers['Retry-After'] = String(secondsUntil(shown.resetsAt, verdict.at));
  return headers;
}

/** The windows as the key sees them: while it is banned, all are empty until the ban ends, whatever its client has left. */
function windowsForKey({ windows, bannedUntil }: QuotaVerdict): readonly WindowState[] {
  if (bannedUntil === undefined) return windows;
  return windows.map((window) => ({ ...window, remaining: 0, resetsAt: bannedUntil }));
}

function policyOf(window: WindowState): string {
  return `"${window.name}";q=${window.limit};w=${window.lengthMs / 1000}`;
}

function stateOf(window: WindowState, now: number): string {
  return `"${window.name}";r=${window.remaining};t=${secondsUntil(window.resetsAt, now)}`;
}

/** Whole seconds, rounded up and at least 1, so that waiting that long is always enough. */
function secondsUntil(instant: number, now: number): number {
  return Math.max(1, Math.ceil((instant - now) / 1000));
}
