import { Injectable } from '@nestjs/common';
import type { ApiKey } from '../accounts/api-key.entity.js';
import { Clock } from '../clock.js';
import { DataVersion } from '../database/data-version.js';

/** How long it is cached at most what the database has for a digest, in milliseconds. */
const CACHED_MS = 5_000;
/** Keys that are cached at most; then the one that was cached first is evicted. */
const MOST_KEYS = 10_000;
/** Digests of no key that are cached at most: enough for clients that repeat a wrong key, and too few to fill memory. */
const MOST_UNKNOWN = 1_000;

/** What the database has for a digest: a key with its client, or none. */
export interface FoundKey {
  readonly key: ApiKey | undefined;
}

interface CachedKey extends FoundKey {
  readonly version: number | undefined;
  /** Of the steady clock. */
  readonly at: number;
}

/**
 * Caches for at most 5 seconds which key, with its client, the database has for a digest, or that it has none. Where the
 * database can tell that nothing was committed, what is cached is exact; any commit, such as a revocation by another
 * process, makes it void at once. Where it cannot tell, only keys are cached: a new key must work at once.
 */
@Injectable()
export class KeyCache {
  private readonly keys = new Map<string, CachedKey>();
  private readonly unknown = new Map<string, CachedKey>();

  constructor(
    private readonly dataVersion: DataVersion,
    private readonly clock: Clock,
  ) {}

  /** The state to cache something with; ask before the database is read. */
  version(): number | undefined {
    return this.dataVersion.current('keys');
  }

  /** What the database has for a digest, if it is cached from the state that the database is in now. */
  get(digest: string): FoundKey | undefined {
    const cached = this.keys.get(digest) ?? this.unknown.get(digest);
    if (!cached) return undefined;
    const age = this.clock.steady() - cached.at;
    if (cached.version === this.version() && age < CACHED_MS) return cached;
    (cached.key ? this.keys : this.unknown).delete(digest);
    return undefined;
  }

  /** Caches what was read after the state was asked. */
  set(digest: string, key: ApiKey | undefined, version: number | undefined): void {
    if (!key && version === undefined) return;
    const [memory, most] = key ? [this.keys, MOST_KEYS] : [this.unknown, MOST_UNKNOWN];
    memory.delete(digest);
    memory.set(digest, { key, version, at: this.clock.steady() });
    if (memory.size <= most) return;
    for (const oldest of memory.keys()) {
      memory.delete(oldest);
      break;
    }
  }
}
