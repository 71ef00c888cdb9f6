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

/** Everything that changed between two writings of the journal. */
export interface Changes {
  readonly counts: readonly CountChange[];
  readonly bans: readonly BanChange[];
}

type Growing = { -readonly [Field in keyof CountChange]: CountChange[Field] };

/** Collects what is to be written to the journal: one entry per client or key, however many requests. */
export class UnsavedChanges {
  private counts = new Map<string, Growing>();
  /** Of days that have ended; a client's entry of a later day is in `counts`. */
  private past: Growing[] = [];
  private bans = new Map<string, BanState>();

  /** Notes a request counted for a client in the minute and the day with these starts. */
  noteCount(key: string, minuteStart: number, dayStart: number): void {
    const change = this.counts.get(key);
    if (change?.dayStart !== dayStart) {
      if (change) this.past.push(change);
      this.counts.set(key, { key, minuteStart, inMinute: 1, dayStart, inDay: 1 });
      return;
    }
    if (change.minuteStart !== minuteStart) {
      change.minuteStart = minuteStart;
      change.inMinute = 0;
    }
    change.inMinute += 1;
    change.inDay += 1;
  }

  /** Notes that a key was refused; its state may go on changing until it is drained. */
  noteBan(keyId: string, state: BanState): void {
    this.bans.set(keyId, state);
  }

  /** Forgets what was noted of a key. */
  forgetBan(keyId: string): void {
    this.bans.delete(keyId);
  }

  /** Answers the changes and begins anew; give them back with `putBack` when they could not be written. */
  drain(): Changes {
    const counts = [...this.past, ...this.counts.values()];
    const bans = [...this.bans].map(([keyId, state]) => ({ keyId, state: { ...state } }));
    this.past = [];
    this.counts = new Map();
    this.bans = new Map();
    return { counts, bans };
  }

  /** Takes back changes that could not be written; a newer minute, and a newer state of a key, wins. */
  putBack({ counts, bans }: Changes): void {
    for (const change of counts) {
      const newer = this.counts.get(change.key);
      if (!newer) this.counts.set(change.key, { ...change });
      else if (newer.dayStart !== change.dayStart) this.past.push({ ...change });
      else {
        newer.inDay += change.inDay;
        if (newer.minuteStart === change.minuteStart) newer.inMinute += change.inMinute;
      }
    }
    for (const { keyId, state } of bans) if (!this.bans.has(keyId)) this.bans.set(keyId, { ...state });
  }
}
