import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ApiKey } from './clients/api-key.entity.js';
import { Clock } from '../core/time/clock.js';
import { DataVersion, type Versions } from '../database/data-version.js';
import { CacheUse } from '../core/metrics/cache-use.js';

/** Maximum age of an entry, in milliseconds. */
const CACHED_MS = 5_000;
/** Maximum number of cached keys that admit requests. */
const MOST_KEYS = 10_000;
/** Maximum number of cached digests that admit none: enough for clients that repeat a wrong key, too few to fill memory. */
const MOST_UNKNOWN = 1_000;

/** What the database has for a digest: a key with its client, or none. */
export interface FoundKey {
  readonly key: ApiKey | undefined;
}

/** A cached key, with the data version that it was read at. */
export interface CachedKey extends FoundKey {
  readonly version: number | undefined;
}

/**
 * Caches the result of looking up a digest, a key with its client or none, for at most 5 seconds. Where the database has a
 * DataVersion, an entry is used only while that is unchanged: any commit, such as a revocation by another process, makes
 * entries stale at once. Where it has none, only keys that admit requests are cached, because a key that is issued or resumed
 * now must work now. They have a cache of their own, so that wrong keys evict none of them.
 */
@Injectable()
export class KeyCache {
  /** How often it was asked, and had an entry. */
  readonly use = new CacheUse();
  private readonly found: LRUCache<string, CachedKey>;
  private readonly unknown: LRUCache<string, CachedKey>;

  constructor(
    private readonly dataVersion: DataVersion,
    clock: Clock,
  ) {
    const options = {
      ttl: CACHED_MS,
      // The time is asked for at each use; by default it may be a millisecond old.
      ttlResolution: 0,
      ttlAutopurge: true,
      // An entry of the instant 0 would never expire.
      perf: { now: () => clock.steady() + 1 },
    };
    this.found = new LRUCache({ max: MOST_KEYS, ...options });
    this.unknown = new LRUCache({ max: MOST_UNKNOWN, ...options });
  }

  /** How many entries it has. */
  get size(): number {
    return this.found.size + this.unknown.size;
  }

  /** Whether another instance may change keys of which this one learns with the next decision of Redis. */
  get isShared(): boolean {
    return this.dataVersion.isShared;
  }

  /** The data versions of this moment; ask for them before the database is read. */
  versions(): Versions {
    return this.dataVersion.versions();
  }

  /** The key of a digest as it was last read, whatever has been committed since. */
  lastRead(digest: string): ApiKey | undefined {
    return this.found.get(digest)?.key;
  }

  /** The entry of a digest, if there is one of the current data version that is not too old. */
  get(digest: string, versions: Versions): CachedKey | undefined {
    const entry = this.found.get(digest) ?? this.unknown.get(digest);
    const cached = entry && this.isCurrent(entry.version, versions) ? entry : undefined;
    this.use[cached ? 'hits' : 'misses'] += 1;
    return cached;
  }

  /** Whether what was read at a data version still holds. */
  isCurrent(version: number | undefined, { keys } = this.versions()): boolean {
    return version === keys && (version !== undefined || !this.dataVersion.isShared);
  }

  /** Caches what was read after the data version was asked for. */
  set(digest: string, key: ApiKey | undefined, version: number | undefined): void {
    const [cache, other] = admits(key) ? [this.found, this.unknown] : [this.unknown, this.found];
    other.delete(digest);
    // Another process may have let the key in since then.
    if (cache === this.unknown && (version === undefined || !this.dataVersion.isComplete)) return;
    cache.set(digest, { key, version });
  }
}

function admits(key: ApiKey | undefined): boolean {
  return key !== undefined && key.revokedAt === null && key.client.suspendedAt === null;
}
