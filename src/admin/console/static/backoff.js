// @ts-check
// Pauses in the polling of all views: as long as the service requests, and increasing while it is unavailable. Without them, polling would
// use up the quota or get the key banned.

/** First and maximum pause while the service is unavailable, in milliseconds. */
const BACKOFF_MS = { first: 2_000, max: 30_000 };
/** Maximum pause that a response can request, in milliseconds: the length of the longest ban. */
const MAX_PAUSE_MS = 86_400_000;
/** Minimum time between two attempts of the operator during a pause, in milliseconds: for a pause due to a quota, and for any other. */
const MIN_RETRY_INTERVAL_MS = { quota: 30_000, other: 2_000 };

/**
 * @typedef {object} Pause
 * @property {import('./admin-api.js').Refusal} refusal its reason
 * @property {number} until its end, as a value of `performance.now()`
 */

/** @type {Pause | undefined} */
let pause;
let backoffMs = BACKOFF_MS.first;
let triedAt = Number.NEGATIVE_INFINITY;

/** Starts a pause because of a refusal, or extends the current one. @param {import('./admin-api.js').Refusal} refusal */
export function pauseFor(refusal) {
  if (pause?.refusal === refusal) return;
  const ms = Math.min(MAX_PAUSE_MS, Math.max(backoffMs, (refusal.retryAfterS ?? 0) * 1_000));
  backoffMs = Math.min(backoffMs * 2, BACKOFF_MS.max);
  pause = { refusal, until: Math.max(pause?.until ?? 0, performance.now() + ms) };
}

/** The last pause that was not ended by `endPause`, even if its time is over. */
export function lastPause() {
  return pause;
}

/** The remaining time of the pause, in milliseconds; 0 without one. */
export function pauseLeft() {
  return Math.max(0, (pause?.until ?? 0) - performance.now());
}

/** Ends a pause because the service responds, unless another pause has started since this one was seen. @param {Pause | undefined} seen */
export function endPause(seen) {
  if (pause !== seen) return;
  pause = undefined;
  backoffMs = BACKOFF_MS.first;
}

/** Whether the operator may try during the pause now; this counts as an attempt. */
export function mayTry() {
  const every = pause?.refusal.status === 429 ? MIN_RETRY_INTERVAL_MS.quota : MIN_RETRY_INTERVAL_MS.other;
  if (performance.now() - triedAt < every) return false;
  triedAt = performance.now();
  return true;
}

// Another key has another quota.
addEventListener('petstore:session', () => {
  pause = undefined;
  backoffMs = BACKOFF_MS.first;
  triedAt = Number.NEGATIVE_INFINITY;
});
