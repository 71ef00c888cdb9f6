import type { BanState } from '../bans.js';

/** Requests of a client since its counts were last written. */
export interface CountChange {
  readonly key: string;
  /** Start of the latest minute with requests, in ms since the Unix epoch; `inMinute` is their number. */
  readonly minuteStart: number;
  readonly inMinute: number;
  /** Start of the day, in ms since the Unix epoch; `inDay` is the number of requests in it. */
  readonly dayStart: number;
  readonly inDay: number;
}

/** Requests of a client in one UTC day. */
export interface DayCount {
  readonly key: string;
  /** Start of the day, in ms since the Unix epoch. */
  readonly start: number;
  readonly used: number;
}

/** The current strikes and ban of a key. */
export interface BanChange {
  readonly keyId: string;
  readonly state: BanState;
}

/** A ban that was lifted, by this process or another. */
export interface LiftedBan {
  readonly keyId: string;
  /** When, in ms since the Unix epoch. */
  readonly at: number;
}

/** Stores counts and bans over restarts. The default is the database; a test may provide another. */
export abstract class QuotaJournal {
  /** Requests counted so far for a client in the minute and the day with these starts. */
  abstract used(key: string, minuteStart: number, dayStart: number): Promise<{ minute: number; day: number }>;
  /** The counts of clients per day since an instant; days without requests are left out. */
  abstract days(keys: readonly string[], since: number): Promise<DayCount[]>;
  /** The keys that are banned, told to wait, or had strikes within the last day. */
  abstract bans(now: number): Promise<BanChange[]>;
  /** The bans that were lifted since an instant. */
  abstract liftedSince(instant: number): Promise<LiftedBan[]>;
  /** Writes all changes, or none. */
  abstract write(counts: readonly CountChange[], bans: readonly BanChange[]): Promise<void>;
  /** Lifts a key's ban. */
  abstract lift(keyId: string, now: number): Promise<void>;
}

/** Everything that changed between two writes to the journal. */
export interface Changes {
  readonly counts: readonly CountChange[];
  readonly bans: readonly BanChange[];
}

type Growing = { -readonly [Field in keyof CountChange]: CountChange[Field] };

/** Collects what is to be written to the journal, in one entry per client or key however many requests there are. */
export class UnsavedChanges {
  private counts = new Map<string, Growing>();
  /** Entries of days that have ended; the client's entry of the new day is in `counts`. */
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

  /** Notes that a key was refused. The state is copied when it is drained, and may change until then. */
  noteBan(keyId: string, state: BanState): void {
    this.bans.set(keyId, state);
  }

  /** Drops what was noted of a key. */
  forgetBan(keyId: string): void {
    this.bans.delete(keyId);
  }

  /** Returns the changes and starts with none; call `putBack` with them if they cannot be written. */
  drain(): Changes {
    const counts = [...this.past, ...this.counts.values()];
    const bans = [...this.bans].map(([keyId, state]) => ({ keyId, state: { ...state } }));
    this.past = [];
    this.counts = new Map();
    this.bans = new Map();
    return { counts, bans };
  }

  /** Merges in changes that could not be written; a newer minute and a newer state of a key win. */
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
