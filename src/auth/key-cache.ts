import { Injectable } from '@nestjs/common';
import type { ApiKey } from '../accounts/api-key.entity.js';
import { Clock } from '../clock.js';
import { CommittedState } from '../database/data-version.js';

/** How long it is remembered at most what the database has for a digest, in milliseconds. */
const REMEMBERED_MS = 5_000;
/** Keys that are remembered at most; then the one that was remembered first is forgotten. */
const MOST_KEYS = 10_000;
/** Digests of no key that are remembered at most: enough for clients that repeat a wrong key, and too few to fill memory. */
const MOST_UNKNOWN = 1_000;

/** What the database has for a digest: a key with its client, or none. */
export interface FoundKey {
  readonly key: ApiKey | undefined;
}

interface Remembered extends FoundKey {
  readonly state: number | undefined;
  /** Of the steady clock. */
  readonly at: number;
}

/**
 * Remembers for at most 5 seconds which key, with its client, the database has for a digest, or that it has none. Where the
 * database can tell that nothing was committed, what is remembered is exact; any commit, such as a revocation by another
 * process, makes it void at once. Where it cannot tell, only keys are remembered: a new key must work at once.
 */
@Injectable()
export class KeyMemory {
  private readonly keys = new Map<string, Remembered>();
  private readonly unknown = new Map<string, Remembered>();

  constructor(
    private readonly committed: CommittedState,
    private readonly clock: Clock,
  ) {}

  /** The state to remember something with; ask before the database is read. */
  state(): number | undefined {
    return this.committed.current('keys');
  }

  /** What the database has for a digest, if it is remembered from the state that the database is in now. */
  recall(digest: string): FoundKey | undefined {
    const remembered = this.keys.get(digest) ?? this.unknown.get(digest);
    if (!remembered) return undefined;
    const age = this.clock.steady() - remembered.at;
    if (remembered.state === this.state() && age < REMEMBERED_MS) return remembered;
    (remembered.key ? this.keys : this.unknown).delete(digest);
    return undefined;
  }

  /** Remembers what was read after the state was asked. */
  remember(digest: string, key: ApiKey | undefined, state: number | undefined): void {
    if (!key && state === undefined) return;
    const [memory, most] = key ? [this.keys, MOST_KEYS] : [this.unknown, MOST_UNKNOWN];
    memory.delete(digest);
    memory.set(digest, { key, state, at: this.clock.steady() });
    if (memory.size <= most) return;
    for (const oldest of memory.keys()) {
      memory.delete(oldest);
      break;
    }
  }
}
