import { DAY_MS, MINUTE_MS } from '../core/time/duration.js';

const SECOND_MS = 1_000;

/** When a key is banned, and for how long. Times in milliseconds. */
export interface BanRules {
  /** Strikes that bring a ban. */
  readonly strikesToBan: number;
  /**
   * Grace period after a refusal, if no earlier `Retry-After` was running: requests that arrive within it were already in
   * flight and are not strikes. A request that arrives this soon after the announced reset is not a strike either.
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
  /** End of the ban; 0 without one. */
  bannedUntil: number;
}

/** The state of a key of which only the end of its ban is known: it has at least the number of bans that leads to one this long. */
export function banUntil(bannedUntil: number, nowMs: number, { ladderMs }: BanRules): BanState {
  const level = ladderMs.findIndex((lengthMs) => lengthMs >= bannedUntil - nowMs);
  const bans = level < 0 ? ladderMs.length : level + 1;
  return { ...neverRefused(), bannedUntil, retryAt: bannedUntil, lastStrikeAt: bannedUntil, bans };
}

/**
 * A copy of a state in which nothing lasts longer from now than its full length: the clock may have been set back since it was
 * written. A clock that was set forward ends a ban or wait whose end it has passed.
 */
export function clampLength(state: BanState, nowMs: number, { ladderMs, forgivenMs }: BanRules): BanState {
  const longest = nowMs + (ladderMs[Math.min(state.bans, ladderMs.length) - 1] ?? 0);
  const bannedUntil = Math.min(state.bannedUntil, longest);
  const retryAt = bannedUntil < state.bannedUntil ? bannedUntil : state.retryAt;
  // Not a spread, which takes twice as long: this is called for each refused request of a key.
  return {
    strikes: state.strikes,
    bans: state.bans,
    bannedUntil,
    retryAt: Math.min(retryAt, Math.max(longest, nowMs + DAY_MS)),
    forgivenUntil: Math.min(state.forgivenUntil, nowMs + forgivenMs),
    lastStrikeAt: Math.min(state.lastStrikeAt, Math.max(nowMs, bannedUntil)),
  };
}

/** The state of a key that was never refused. */
export function neverRefused(): BanState {
  return { retryAt: 0, forgivenUntil: 0, strikes: 0, lastStrikeAt: 0, bans: 0, bannedUntil: 0 };
}

/**
 * Records that a key was refused now and has to wait until `retryAt`. A refusal while the previous wait still runs is a strike; enough
 * strikes begin a ban. Requests during a ban are not strikes, and the end of the ban stays as announced.
 *
 * Only the wait that was announced last counts. A refusal with an earlier reset replaces it and is not a strike: the plan was
 * raised, or another window is full now, for which the client was never asked to wait.
 */
export function recordRefusal(state: BanState, nowMs: number, retryAt: number, rules: BanRules): void {
  if (nowMs - state.lastStrikeAt >= rules.resetMs) {
    state.strikes = 0;
    state.bans = 0;
    // It ended over a day ago, and must not begin again when the clock is set back.
    state.bannedUntil = 0;
  }
  if (nowMs >= state.retryAt) state.forgivenUntil = nowMs + rules.forgivenMs;
  else if (
    retryAt >= state.retryAt &&
    nowMs >= state.forgivenUntil &&
    nowMs - state.lastStrikeAt >= rules.strikeEveryMs
  ) {
    state.strikes += 1;
    state.lastStrikeAt = nowMs;
  }
  state.retryAt = retryAt;
  if (state.strikes < rules.strikesToBan) return;
  const level = Math.min(state.bans, rules.ladderMs.length - 1);
  state.bannedUntil = nowMs + (rules.ladderMs[level] ?? 0);
  state.retryAt = state.bannedUntil;
  // The time of the ban itself does not count as time without strikes.
  state.lastStrikeAt = state.bannedUntil;
  state.bans += 1;
  state.strikes = 0;
}

/** The number of refused keys from which ended ones are looked for. */
const FEW = 1_000;

/** The states of refused keys. Ended states are dropped whenever the number of states has doubled. */
export class RefusedKeys {
  private states = new Map<string, BanState>();
  private searchedFrom = FEW;

  constructor(private readonly rules: BanRules) {}

  /** The state of a key; undefined if no refusal depends on it. */
  find(keyId: string): BanState | undefined {
    return this.states.get(keyId);
  }

  /** Sets the state of a key. */
  set(keyId: string, state: BanState, nowMs: number): void {
    this.states.set(keyId, state);
    if (this.states.size <= this.searchedFrom) return;
    const isOver = ({ retryAt, lastStrikeAt }: BanState) =>
      retryAt <= nowMs && nowMs - lastStrikeAt >= this.rules.resetMs;
    this.states = new Map([...this.states].filter(([, one]) => !isOver(one)));
    this.searchedFrom = Math.max(FEW, 2 * this.states.size);
  }

  /** Drops the state of a key. */
  forget(keyId: string): void {
    this.states.delete(keyId);
  }
}
