import { moveWithClock, neverRefused, type BanState } from '../bans.js';

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
