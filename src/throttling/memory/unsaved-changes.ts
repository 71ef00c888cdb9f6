import type { BanState } from '../bans.js';
import type { BanChange, CountChange } from './quota-journal.js';

/** Everything that changed between two writings of the journal. */
export interface Changes {
  readonly counts: readonly CountChange[];
  readonly bans: readonly BanChange[];
}

/** Collects what is to be written to the journal: one entry per client or key, however many requests. */
export class UnsavedChanges {
  private counts = new Map<string, { key: string; start: number; added: number }>();
  private bans = new Map<string, BanState>();

  /** Notes requests counted for a key in the window with this start. */
  noteCount(key: string, start: number, added: number): void {
    const id = `${start} ${key}`;
    const change = this.counts.get(id);
    if (change) change.added += added;
    else this.counts.set(id, { key, start, added });
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
    const counts = [...this.counts.values()];
    const bans = [...this.bans].map(([keyId, state]) => ({ keyId, state: { ...state } }));
    this.counts = new Map();
    this.bans = new Map();
    return { counts, bans };
  }

  /** Takes back changes that could not be written; a newer state of a key wins. */
  putBack({ counts, bans }: Changes): void {
    for (const { key, start, added } of counts) this.noteCount(key, start, added);
    for (const { keyId, state } of bans) if (!this.bans.has(keyId)) this.bans.set(keyId, { ...state });
  }
}
