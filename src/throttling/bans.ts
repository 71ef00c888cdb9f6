import { DAY_MS } from './quota.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** When a key is banned, and for how long. Times in milliseconds. */
export interface BanRules {
  /** Strikes that bring a ban. */
  readonly strikesToBan: number;
  /**
   * Grace period after a refusal, if no earlier `Retry-After` was running: requests that arrive within it were already in
   * flight and are no strikes. A request that arrives this soon after the announced reset is no strike either.
   */
  readonly forgivenMs: number;
  /** Least time between two strikes; further refusals in between are not counted. */
  readonly strikeEveryMs: number;
  /** Lengths of the first, second and following bans; the last length applies to all further bans. */
  readonly ladderMs: readonly number[];
  /** After this time without strikes, strikes and bans are counted from zero again. */
  readonly resetMs: number;
}

/** 20 strikes, at most one a second, bring a ban of 5, then 15, then 60 minutes, then 24 hours; a day without strikes resets it. */
export const BAN_RULES: BanRules = {
  strikesToBan: 20,
  forgivenMs: 2 * SECOND_MS,
  strikeEveryMs: SECOND_MS,
  ladderMs: [5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS, DAY_MS],
  resetMs: DAY_MS,
};

/** State of a key that was refused; its size does not grow with the number of refusals. Instants in ms since the Unix epoch. */
export interface BanState {
  /** The end of the `Retry-After` that was last sent to the key. */
  retryAt: number;
  /** End of the grace period. */
  forgivenUntil: number;
  strikes: number;
  /** The last strike, or the end of the last ban. */
  lastStrikeAt: number;
  /** Bans since the count was last reset. */
  bans: number;
  /** End of the ban; 0 when there was none. */
  bannedUntil: number;
}

/**
 * Shifts all instants when the clock was set forward by `by` ms (back when negative), so that a ban keeps its remaining length.
 * The announced `Retry-After` is cleared: it is unknown by which clock the client waits, so its next request must be no strike.
 */
export function moveWithClock(state: BanState, by: number): void {
  state.retryAt = 0;
  state.forgivenUntil += by;
  state.lastStrikeAt += by;
  if (state.bannedUntil !== 0) state.bannedUntil += by;
}

/**
 * Limits a stored state to what is possible from now on. The process that reads it cannot know whether the clock was set since
 * it was written, so nothing in it may last longer, counted from now, than its full length.
 */
export function heldToLength(state: BanState, now: number, { ladderMs, forgivenMs }: BanRules): BanState {
  const longest = ladderMs[Math.min(state.bans, ladderMs.length) - 1] ?? 0;
  const bannedUntil = Math.min(state.bannedUntil, now + longest);
  return {
    ...state,
    bannedUntil,
    retryAt: Math.min(state.retryAt, now + Math.max(longest, DAY_MS)),
    forgivenUntil: Math.min(state.forgivenUntil, now + forgivenMs),
    lastStrikeAt: Math.min(state.lastStrikeAt, Math.max(now, bannedUntil)),
  };
}

/** The state of a key that was never refused. */
export function neverRefused(): BanState {
  return { retryAt: 0, forgivenUntil: 0, strikes: 0, lastStrikeAt: 0, bans: 0, bannedUntil: 0 };
}

/**
 * Records that a key was refused now and told to wait until `retryAt`. A refusal while the previous wait still runs is a strike;
 * enough strikes begin a ban. Requests during a ban are no strikes, and the end of the ban stays as announced.
 *
 * Only the wait that was announced last counts. A refusal with an earlier reset replaces it and is no strike: the plan was
 * raised, or another window is full now, and the client was never told to wait for that one.
 */
export function recordRefusal(state: BanState, now: number, retryAt: number, rules: BanRules): void {
  if (now - state.lastStrikeAt >= rules.resetMs) {
    state.strikes = 0;
    state.bans = 0;
    // It was over a day ago, and does not begin again when the clock is put back.
    state.bannedUntil = 0;
  }
  if (now >= state.retryAt) state.forgivenUntil = now + rules.forgivenMs;
  else if (
    retryAt >= state.retryAt &&
    now >= state.forgivenUntil &&
    now - state.lastStrikeAt >= rules.strikeEveryMs
  ) {
    state.strikes += 1;
    state.lastStrikeAt = now;
  }
  state.retryAt = retryAt;
  if (state.strikes < rules.strikesToBan) return;
  const rung = Math.min(state.bans, rules.ladderMs.length - 1);
  state.bannedUntil = now + (rules.ladderMs[rung] ?? 0);
  state.retryAt = state.bannedUntil;
  // The time of the ban itself does not count as time without strikes.
  state.lastStrikeAt = state.bannedUntil;
  state.bans += 1;
  state.strikes = 0;
}

/**
 * The states of refused keys, in two generations. A key that is not refused again is dropped together with its generation, one to
 * two periods later; no scan and no timer per key is needed.
 */
export class RefusedKeys {
  private recent = new Map<string, BanState>();
  private older = new Map<string, BanState>();
  private turnedAt = Number.NEGATIVE_INFINITY;

  /** `periodMs` must be at least the longest ban plus `resetMs`. */
  constructor(private readonly periodMs: number) {}

  /** The state of a key; undefined if it was not refused within the last one to two periods. */
  find(keyId: string): BanState | undefined {
    if (this.recent.size === 0 && this.older.size === 0) return undefined;
    return this.recent.get(keyId) ?? this.older.get(keyId);
  }

  /** The state of a key that is refused now; the caller changes it in place. */
  touch(keyId: string, now: number): BanState {
    this.turn(now);
    const state = this.find(keyId) ?? neverRefused();
    this.recent.set(keyId, state);
    return state;
  }

  /** Drops the state of a key. */
  forget(keyId: string): void {
    this.recent.delete(keyId);
    this.older.delete(keyId);
  }

  /** Puts in a state that was read from the journal or from Redis. */
  restore(keyId: string, state: BanState, now: number): void {
    this.turn(now);
    this.recent.set(keyId, state);
  }

  /** Shifts all states when the clock was set forward by `by` ms (back when negative); returns them by key. */
  moveWithClock(by: number): Iterable<[string, BanState]> {
    this.turnedAt += by;
    const all = new Map([...this.older, ...this.recent]);
    for (const state of all.values()) moveWithClock(state, by);
    return all;
  }

  private turn(now: number): void {
    if (now - this.turnedAt < this.periodMs) return;
    this.older = now - this.turnedAt < 2 * this.periodMs ? this.recent : new Map();
    this.recent = new Map();
    this.turnedAt = now;
  }
}
