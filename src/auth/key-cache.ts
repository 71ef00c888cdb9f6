import { Injectable } from '@nestjs/common';
import type { ApiKey } from './clients/api-key.entity.js';
import { Clock } from '../core/time/clock.js';
import { DataVersion, type Versions } from '../database/data-version.js';
import { CacheUse } from '../core/metrics/cache-use.js';
import { TransientMap } from '../core/transient-map.js';

/** Maximum age of an entry, in milliseconds. */
const CACHED_MS = 5_000;
/** Maximum number of cached keys; the oldest entry is evicted first. */
const MOST_KEYS = 10_000;
/** Maximum number of cached digests without a key: enough for clients that repeat a wrong key, too few to fill memory. */
const MOST_UNKNOWN = 1_000;

/** What the database has for a digest: a key with its client, or none. */
export interface FoundKey {
  readonly key: ApiKey | undefined;
}

/** A cached key, with the data version that it was read at. */
export interface CachedKey extends FoundKey {
  readonly version: number | undefined;
  /** Of the steady clock. */
  readonly at: number;
}

/**
 * Caches the result of looking up a digest, a key with its client or none, for at most 5 seconds. Where the database has a
 * DataVersion, an entry is used only while that is unchanged: any commit, such as a revocation by another process, makes
 * entries stale at once. Where it has none, only found keys are cached, because a key that is issued now must work now.
 * Entries that are too old are removed within 5 more seconds whether or not anybody asks again: ten thousand keys with their clients
 * take 9 MiB.
 */
@Injectable()
export class KeyCache {
  /** How often it was asked, and had an entry. */
  readonly use = new CacheUse();
  // In both the entries are in the order in which they were read.
  private readonly keys = new TransientMap<string, CachedKey>();
  private readonly unknown = new TransientMap<string, CachedKey>();
  private sweeping: NodeJS.Timeout | undefined;

  constructor(
    private readonly dataVersion: DataVersion,
    private readonly clock: Clock,
  ) {}

  /** How many entries it has. */
  get size(): number {
    return this.keys.size + this.unknown.size;
  }

  /** Whether another instance may change keys of which this one learns with the next decision of Redis. */
  get isShared(): boolean {
    return this.dataVersion.isShared;
  }

  /** The data version to cache an entry with; ask for it before the database is read. */
  version(): number | undefined {
    return this.versions().keys;
  }

  /** The data versions of this moment. */
  versions(): Versions {
    return this.dataVersion.versions();
  }

  /** The key of a digest as it was last read, whatever has been committed since. */
  lastRead(digest: string): ApiKey | undefined {
    return this.keys.get(digest)?.key;
  }

  /** The entry of a digest, if there is one of the current data version that is not too old. */
  get(digest: string, versions: Versions): CachedKey | undefined {
    const cached = this.current(digest, versions);
    this.use[cached ? 'hits' : 'misses'] += 1;
    return cached;
  }

  private current(digest: string, versions: Versions): CachedKey | undefined {
    const cached = this.keys.get(digest) ?? this.unknown.get(digest);
    if (!cached) return undefined;
    const age = this.clock.steady() - cached.at;
    if (this.isCurrent(cached.version, versions) && age < CACHED_MS) return cached;
    (cached.key ? this.keys : this.unknown).delete(digest);
    return undefined;
  }

  /** Whether what was read at a data version still holds. */
  isCurrent(version: number | undefined, { keys } = this.versions()): boolean {
    return version === keys && (version !== undefined || !this.dataVersion.isShared);
  }

  /** Caches what was read after the data version was asked for. */
  set(digest: string, key: ApiKey | undefined, version: number | undefined): void {
    if (!key && version === undefined) return;
    // Another process may have let the key in since then.
    if (!this.dataVersion.isComplete && !isAdmitted(key)) return;
    const [memory, most] = key ? [this.keys, MOST_KEYS] : [this.unknown, MOST_UNKNOWN];
    memory.delete(digest);
    memory.set(digest, { key, version, at: this.clock.steady() });
    this.sweepLater();
    if (memory.size <= most) return;
    const [oldest] = memory.first() ?? [];
    if (oldest !== undefined) memory.delete(oldest);
  }

  /** Removes what is too old until nothing is left. */
  private sweepLater(): void {
    this.sweeping ??= setInterval(() => {
      for (const memory of [this.keys, this.unknown]) this.sweep(memory);
      if (this.size > 0) return;
      clearInterval(this.sweeping);
      this.sweeping = undefined;
    }, CACHED_MS).unref();
  }

  private sweep(memory: TransientMap<string, CachedKey>): void {
    const now = this.clock.steady();
    for (const [digest, { at }] of memory.all()) {
      if (now - at < CACHED_MS) return;
      memory.delete(digest);
    }
  }
}

function isAdmitted(key: ApiKey | undefined): boolean {
  return key !== undefined && key.revokedAt === null && key.client.suspendedAt === null;
}
