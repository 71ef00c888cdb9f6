import type { BanState } from '../bans.js';
import type { BanChange, CountChange } from './quota-journal.js';

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
