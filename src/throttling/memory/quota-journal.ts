import type { BanState } from '../bans.js';

/** Requests that a key was counted in one window since they were last written. */
export interface CountChange {
  readonly key: string;
  /** Start of the window, in ms since the Unix epoch. */
  readonly start: number;
  readonly added: number;
}

/** A key's strikes and ban as they stand. */
export interface BanChange {
  readonly keyId: string;
  readonly state: BanState;
}

/** Where counters outlive the process. The default is the database; a test may give another. */
export abstract class QuotaJournal {
  /** Requests counted so far for a key in the window with this start. */
  abstract used(key: string, start: number): Promise<number>;
  /** Every key that may still be banned or on the ladder. */
  abstract bans(now: number): Promise<BanChange[]>;
  /** Keys whose ban was lifted since an instant, by whichever process. */
  abstract liftedSince(instant: number): Promise<string[]>;
  /** Writes all changes, or none. */
  abstract write(counts: readonly CountChange[], bans: readonly BanChange[]): Promise<void>;
  /** Lifts a key's ban. */
  abstract lift(keyId: string, now: number): Promise<void>;
}
