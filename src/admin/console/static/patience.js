// @ts-check
// How long no view polls: as long as the service said, with a growing pause while it is unavailable. Polling
// sooner would use up the quota, or get the key banned.

/** First and longest pause while the service is unavailable, in milliseconds. */
const AWAY_MS = { first: 2_000, longest: 30_000 };
/** The longest pause that is taken from a response, in milliseconds: a ban lasts no longer. */
const LONGEST_MS = 86_400_000;
/** How often the operator may break a pause, in milliseconds: one that a quota asks for, and any other. */
const TRY_MS = { quota: 30_000, other: 2_000 };

/**
 * @typedef {object} Pause
 * @property {import('./admin-api.js').Refusal} refusal why
 * @property {number} until by `performance.now()`
 */

/** @type {Pause | undefined} */
let pause;
let awayMs = AWAY_MS.first;
let triedAt = Number.NEGATIVE_INFINITY;

/** Begins a pause for a refusal, or extends the one that runs. @param {import('./admin-api.js').Refusal} refusal */
export function pauseFor(refusal) {
  if (pause?.refusal === refusal) return;
  const ms = Math.min(LONGEST_MS, Math.max(awayMs, (refusal.retryAfterS ?? 0) * 1_000));
  awayMs = Math.min(awayMs * 2, AWAY_MS.longest);
  pause = { refusal, until: Math.max(pause?.until ?? 0, performance.now() + ms) };
}

/** The last pause that began and was not ended, over or not. */
export function lastPause() {
  return pause;
}

/** What is left of the pause, in milliseconds; 0 without one. */
export function pauseLeft() {
  return Math.max(0, (pause?.until ?? 0) - performance.now());
}

/** Ends a pause, if it is still the one that was seen before: the service responds. @param {Pause | undefined} seen */
export function endPause(seen) {
  if (pause !== seen) return;
  pause = undefined;
  awayMs = AWAY_MS.first;
}

/** Whether the operator may break the pause now. */
export function mayTry() {
  const every = pause?.refusal.status === 429 ? TRY_MS.quota : TRY_MS.other;
  if (performance.now() - triedAt < every) return false;
  triedAt = performance.now();
  return true;
}

// The next key has a separate quota.
addEventListener('petstore:session', () => {
  pause = undefined;
  awayMs = AWAY_MS.first;
  triedAt = Number.NEGATIVE_INFINITY;
});
