import { DAY_MS, MINUTE_MS } from '../core/time/duration.js';

const SECOND_MS = 1_000;

/** When a key is banned and for how long. Times in milliseconds. */
export interface BanRules {
  /** Strikes that cause a ban. */
  readonly strikesToBan: number;
  /**
   * Grace period after a refusal, if no earlier `Retry-After` was in effect: requests that arrive within it were already in flight and are
   * not strikes. The same applies to a request that arrives this soon after the announced reset.
   */
  readonly gracePeriodMs: number;
  /** Minimum time between two strikes; refusals in between do not count. */
  readonly minStrikeIntervalMs: number;
  /** Lengths of the first, second and following bans; the last one applies to all further bans. */
  readonly banDurationsMs: readonly number[];
  /** After this time without strikes, the counts of strikes and bans are reset. */
  readonly resetMs: number;
}

/** 20 strikes, at most one per second, cause a ban of 5, then 15, then 60 minutes, then 24 hours; a day without strikes resets this. */
export const BAN_RULES: BanRules = {
  strikesToBan: 20,
  gracePeriodMs: 2 * SECOND_MS,
  minStrikeIntervalMs: SECOND_MS,
  banDurationsMs: [5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS, DAY_MS],
  resetMs: DAY_MS,
};

/** State of a refused key. Its size does not grow with the number of refusals. Times in ms since the Unix epoch. */
export interface BanState {
  /** The end of the last `Retry-After` sent to the key. */
  retryAt: number;
  /** End of the grace period. */
  forgivenUntil: number;
  strikes: number;
  /** The last strike, or the end of the last ban. */
  lastStrikeAt: number;
  /** Bans since the last reset. */
  bans: number;
  /** End of the ban; 0 if there is none. */
  bannedUntil: number;
}

/** The state of a key if only the end of its ban is known. Assumes the smallest number of bans that leads to one this long. */
export function banUntil(bannedUntil: number, nowMs: number, { banDurationsMs }: BanRules): BanState {
  const level = banDurationsMs.findIndex((lengthMs) => lengthMs >= bannedUntil - nowMs);
  const bans = level < 0 ? banDurationsMs.length : level + 1;
  return { ...neverRefused(), bannedUntil, retryAt: bannedUntil, lastStrikeAt: bannedUntil, bans };
}

/**
 * A copy of a state whose ban and waits last at most their full length from now, because the clock may have been set back since the state
 * was written. If it was set forward, bans and waits whose end has passed are over.
 */
export function clampLength(
  state: BanState,
  nowMs: number,
  { banDurationsMs, gracePeriodMs }: BanRules,
): BanState {
  const longest = nowMs + (banDurationsMs[Math.min(state.bans, banDurationsMs.length) - 1] ?? 0);
  const bannedUntil = Math.min(state.bannedUntil, longest);
  const retryAt = bannedUntil < state.bannedUntil ? bannedUntil : state.retryAt;
  // Not a spread, which takes twice as long. This runs for each refused request of a key.
  return {
    strikes: state.strikes,
    bans: state.bans,
    bannedUntil,
    retryAt: Math.min(retryAt, Math.max(longest, nowMs + DAY_MS)),
    forgivenUntil: Math.min(state.forgivenUntil, nowMs + gracePeriodMs),
    lastStrikeAt: Math.min(state.lastStrikeAt, Math.max(nowMs, bannedUntil)),
  };
}

/** The initial state of a key. */
export function neverRefused(): BanState {
  return { retryAt: 0, forgivenUntil: 0, strikes: 0, lastStrikeAt: 0, bans: 0, bannedUntil: 0 };
}

/**
 * Records a refusal and the wait until `retryAt`. A refusal during the previous wait is a strike, and enough strikes start a ban. Requests
 * during a ban are neither strikes nor extend it. Only the last announced wait counts. A refusal with an earlier reset replaces it without
 * a strike, because the plan was raised or another window is full, for which the client was never asked to wait.
 */
export function recordRefusal(state: BanState, nowMs: number, retryAt: number, rules: BanRules): void {
  if (nowMs - state.lastStrikeAt >= rules.resetMs) {
    state.strikes = 0;
    state.bans = 0;
    // It ended over a day ago and must not resume if the clock is set back.
    state.bannedUntil = 0;
  }
  if (nowMs >= state.retryAt) state.forgivenUntil = nowMs + rules.gracePeriodMs;
  else if (
    retryAt >= state.retryAt &&
    nowMs >= state.forgivenUntil &&
    nowMs - state.lastStrikeAt >= rules.minStrikeIntervalMs
  ) {
    state.strikes += 1;
    state.lastStrikeAt = nowMs;
  }
  state.retryAt = retryAt;
  if (state.strikes < rules.strikesToBan) return;
  const level = Math.min(state.bans, rules.banDurationsMs.length - 1);
  state.bannedUntil = nowMs + (rules.banDurationsMs[level] ?? 0);
  state.retryAt = state.bannedUntil;
  // The ban itself does not count as time without strikes.
  state.lastStrikeAt = state.bannedUntil;
  state.bans += 1;
  state.strikes = 0;
}

/** Number of refused keys above which expired states are searched for. */
const FEW = 1_000;

/** The states of refused keys. Expired states are dropped whenever the number of states has doubled. */
export class RefusedKeys {
  private states = new Map<string, BanState>();
  private searchedFrom = FEW;

  constructor(private readonly rules: BanRules) {}

  /** The state of a key; undefined if it no longer affects decisions. */
  find(keyId: string): BanState | undefined {
    return this.states.get(keyId);
  }

  set(keyId: string, state: BanState, nowMs: number): void {
    this.states.set(keyId, state);
    if (this.states.size <= this.searchedFrom) return;
    const isOver = ({ retryAt, lastStrikeAt }: BanState) =>
      retryAt <= nowMs && nowMs - lastStrikeAt >= this.rules.resetMs;
    this.states = new Map([...this.states].filter(([, one]) => !isOver(one)));
    this.searchedFrom = Math.max(FEW, 2 * this.states.size);
  }

  forget(keyId: string): void {
    this.states.delete(keyId);
  }
}
