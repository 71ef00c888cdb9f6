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
  /** By day and client. */
  private counts = new Map<string, Growing>();
  private bans = new Map<string, BanState>();

  /** Notes a request counted for a client in the minute and the day with these starts. */
  noteCount(key: string, minuteStart: number, dayStart: number): void {
    const change = this.of({ key, minuteStart, inMinute: 0, dayStart, inDay: 0 });
    if (change.minuteStart !== minuteStart) Object.assign(change, { minuteStart, inMinute: 0 });
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
    const counts = [...this.counts.values()].toSorted((one, other) => one.dayStart - other.dayStart);
    const bans = [...this.bans].map(([keyId, state]) => ({ keyId, state: { ...state } }));
    this.counts = new Map();
    this.bans = new Map();
    return { counts, bans };
  }

  /** Merges in changes that could not be written; a newer minute and a newer state of a key win. */
  putBack({ counts, bans }: Changes): void {
    for (const change of counts) {
      const newer = this.of({ ...change, inMinute: 0, inDay: 0 });
      newer.inDay += change.inDay;
      if (newer.minuteStart === change.minuteStart) newer.inMinute += change.inMinute;
    }
    for (const { keyId, state } of bans) if (!this.bans.has(keyId)) this.bans.set(keyId, { ...state });
  }

  /** The entry of the same client and day, or this one. */
  private of(change: Growing): Growing {
    const id = `${change.dayStart} ${change.key}`;
    const known = this.counts.get(id) ?? change;
    if (known === change) this.counts.set(id, change);
    return known;
  }
}
