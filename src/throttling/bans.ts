import { DAY_MS } from './quota.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** When a key is banned, and for how long. Times in milliseconds. */
export interface BanRules {
  /** Strikes that bring a ban. */
  readonly strikesToBan: number;
  /**
   * How long after a refusal a key may go on without strikes, if no wait was running: those requests were in flight. So
   * nothing is a strike that comes this soon after the reset that the key was told.
   */
  readonly forgivenMs: number;
  /** Shortest time between two strikes: what is refused in between is none, however much it is. */
  readonly strikeEveryMs: number;
  /** Length of the first ban, the second and so on; the last is that of every further one. */
  readonly ladderMs: readonly number[];
  /** A time without strikes after which strikes and ladder begin anew. */
  readonly resetMs: number;
}

/** 20 strikes, one a second at most: 5 minutes, then 15, 60, and 24 hours; a day without strikes begins anew. */
export const BAN_RULES: BanRules = {
  strikesToBan: 20,
  forgivenMs: 2 * SECOND_MS,
  strikeEveryMs: SECOND_MS,
  ladderMs: [5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS, DAY_MS],
  resetMs: DAY_MS,
};

/** What is remembered of a key that was refused; O(1) however often. Instants in ms since the Unix epoch. */
export interface BanState {
  /** Until when the key was last told to wait. */
  retryAt: number;
  /** Until when refusals are forgiven. */
  forgivenUntil: number;
  strikes: number;
  /** The last strike, or the end of the last ban. */
  lastStrikeAt: number;
  /** Bans so far since the ladder began. */
  bans: number;
  /** End of the ban; 0 when there was none. */
  bannedUntil: number;
}

/**
 * Moves what lasts along with a clock that was set forward by `by` ms, or back: a ban goes on for as long as it would have.
 * What the key was told to wait is void: by which clock it waits nobody knows, so that going on is no strike.
 */
export function moveWithClock(state: BanState, by: number): void {
  state.retryAt = 0;
  state.forgivenUntil += by;
  state.lastStrikeAt += by;
  if (state.bannedUntil !== 0) state.bannedUntil += by;
}

/**
 * A state that was stored, as a process takes it up that does not know whether the clock was set since: nothing in it lasts
 * longer from now on than it did from its beginning.
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
 * Records that a key was refused now and told to wait until `retryAt`. A refusal while the wait that was told before
 * still runs is a strike; enough of them begin a ban. Requests during a ban are none: its end was told, and stays.
 *
 * The wait that was told last is the one that runs. A refusal that tells an earlier reset replaces it and is no strike:
 * the plan was raised, or another window refuses, and the key did not go against what it was told of this one.
 */
export function recordRefusal(state: BanState, now: number, retryAt: number, rules: BanRules): void {
  if (now - state.lastStrikeAt >= rules.resetMs) {
    state.strikes = 0;
    state.bans = 0;
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
  // A ban is no good conduct: the time without strikes begins at its end.
  state.lastStrikeAt = state.bannedUntil;
  state.bans += 1;
  state.strikes = 0;
}

/**
 * What is remembered of keys that were refused, in two generations: a key that is not refused again is dropped
 * with its generation, one to two periods later, and no scan looks for it.
 */
export class RefusedKeys {
  private recent = new Map<string, BanState>();
  private older = new Map<string, BanState>();
  private turnedAt = Number.NEGATIVE_INFINITY;

  /** `periodMs` must be no shorter than the longest ban and the time after which the ladder begins anew together. */
  constructor(private readonly periodMs: number) {}

  /** The state of a key, if it was refused lately. */
  find(keyId: string): BanState | undefined {
    if (this.recent.size === 0 && this.older.size === 0) return undefined;
    return this.recent.get(keyId) ?? this.older.get(keyId);
  }

  /** The state of a key that is refused now, to be changed in place. */
  touch(keyId: string, now: number): BanState {
    this.turn(now);
    const state = this.find(keyId) ?? neverRefused();
    this.recent.set(keyId, state);
    return state;
  }

  /** Forgets a key. */
  forget(keyId: string): void {
    this.recent.delete(keyId);
    this.older.delete(keyId);
  }

  /** Takes up a state that was remembered elsewhere. */
  restore(keyId: string, state: BanState, now: number): void {
    this.turn(now);
    this.recent.set(keyId, state);
  }

  /** Moves all with a clock that was set forward by `by` ms, or back; answers the keys and their states. */
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
