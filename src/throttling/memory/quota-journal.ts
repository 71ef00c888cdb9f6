import type { BanState } from '../bans.js';

/** Requests that a client was counted since they were last written. */
export interface CountChange {
  readonly key: string;
  /** Start of the latest minute that was counted, in ms since the Unix epoch; `inMinute` fell in it. */
  readonly minuteStart: number;
  readonly inMinute: number;
  /** Start of the day, in ms since the Unix epoch; `inDay` fell in it. */
  readonly dayStart: number;
  readonly inDay: number;
}

/** Requests that a client was counted in one UTC day. */
export interface DayCount {
  readonly key: string;
  /** Start of the day, in ms since the Unix epoch. */
  readonly start: number;
  readonly used: number;
}

/** A key's strikes and ban as they stand. */
export interface BanChange {
  readonly keyId: string;
  readonly state: BanState;
}

/** A ban that was lifted, by whichever process. */
export interface LiftedBan {
  readonly keyId: string;
  /** When, in ms since the Unix epoch. */
  readonly at: number;
}

/** Where counters outlive the process. The default is the database; a test may give another. */
export abstract class QuotaJournal {
  /** Requests counted so far for a client in the minute and the day with these starts. */
  abstract used(key: string, minuteStart: number, dayStart: number): Promise<{ minute: number; day: number }>;
  /** The days of clients from an instant on; a day without requests is left out. */
  abstract days(keys: readonly string[], since: number): Promise<DayCount[]>;
  /** Every key that may still be banned or on the ladder. */
  abstract bans(now: number): Promise<BanChange[]>;
  /** The bans that were lifted since an instant. */
  abstract liftedSince(instant: number): Promise<LiftedBan[]>;
  /** Writes all changes, or none. */
  abstract write(counts: readonly CountChange[], bans: readonly BanChange[]): Promise<void>;
  /** Lifts a key's ban. */
  abstract lift(keyId: string, now: number): Promise<void>;
}
