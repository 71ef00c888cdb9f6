import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ApiKey } from './clients/api-key.entity.js';
import { Client } from './clients/client.entity.js';
import { Clock } from '../core/time/clock.js';
import { DataVersion, type Versions } from '../database/data-version.js';
import { JsonReader } from '../database/database.js';
import { TransientMap } from '../core/transient-map.js';
import { refusalOfFailure } from '../throttling/quota-refusals.js';

/** Maximum age of an entry, in milliseconds. */
const CACHED_MS = 5_000;
/** The same where nothing shows that another process has changed a key. */
const UNVERSIONED_MS = 2_000;
/** Maximum number of cached valid keys. */
const MOST_KEYS = 10_000;
/** Maximum number of cached invalid digests: enough for clients that repeat a wrong key, too few to fill memory. */
const MOST_UNKNOWN = 1_000;

/** What a request needs of its key, and the whole client. */
export type CallersKey = Pick<ApiKey, 'id' | 'scopes' | 'expiresAt' | 'revokedAt' | 'client'>;

const FIND = `SELECT api_keys.id, client_id AS "clientId", scopes, expires_at AS "expiresAt", revoked_at AS "revokedAt", name, plan,
  per_minute AS "perMinute", per_day AS "perDay", clients.created_at AS "createdAt", suspended_at AS "suspendedAt"
  FROM api_keys JOIN clients ON clients.id = client_id WHERE digest = ?1`;

/** The key with a digest, with its client, or none. */
export interface FoundKey {
  readonly key: CallersKey | undefined;
}

/** A cached key, with the data version that it was read at. */
export interface CachedKey extends FoundKey {
  readonly version: number | undefined;
}

/**
 * Finds the key of a digest, with its client, and caches it, or its absence, for at most 5 seconds. Where the database has a
 * DataVersion, an entry is used only while that is unchanged: any commit, such as a revocation by another process, makes
 * entries stale at once. Where it has none, only keys that admit requests are cached, for at most 2 seconds,
 * because a key that is issued or resumed
 * now must work now. They have a separate cache, so that wrong keys evict none of them.
 */
@Injectable()
export class KeyCache {
  /** Hits and misses, for metrics. */
  readonly use = { hits: 0, misses: 0 };
  private readonly found: LRUCache<string, CachedKey>;
  private readonly unknown: LRUCache<string, CachedKey>;
  /** The look-ups that are running, by data version and digest. */
  private readonly running = new TransientMap<string, Promise<FoundKey>>();

  constructor(
    private readonly dataVersion: DataVersion,
    private readonly reader: JsonReader,
    clock: Clock,
  ) {
    const options = {
      ttl: CACHED_MS,
      // By default the cache's time may be a millisecond old.
      ttlResolution: 0,
      ttlAutopurge: true,
      // An entry made at 0 would never expire.
      perf: { now: () => clock.steady() + 1 },
    };
    this.found = new LRUCache({ max: MOST_KEYS, ...options });
    this.unknown = new LRUCache({ max: MOST_UNKNOWN, ...options });
  }

  /** The number of entries. */
  get size(): number {
    return this.found.size + this.unknown.size;
  }

  /** Whether another instance may have changed keys, which this one learns from the next response of Redis. */
  get isShared(): boolean {
    return this.dataVersion.isShared;
  }

  /** The current data versions; read them before the database. */
  versions(): Versions {
    return this.dataVersion.versions();
  }

  /** The cached key of a digest, whatever has been committed since. */
  lastRead(digest: string): CallersKey | undefined {
    return this.found.get(digest)?.key;
  }

  /** The entry of a digest, if there is one of the current data version that is not too old. */
  get(digest: string, versions: Versions): CachedKey | undefined {
    const entry = this.found.get(digest) ?? this.unknown.get(digest);
    const cached = entry && this.isCurrent(entry.version, versions) ? entry : undefined;
    this.use[cached ? 'hits' : 'misses'] += 1;
    return cached;
  }

  /** Whether what was read at a data version is still valid. */
  isCurrent(version: number | undefined, { keys } = this.versions()): boolean {
    return version === keys && (version !== undefined || !this.dataVersion.isShared);
  }

  /** Caches what was read after the data version. */
  set(digest: string, key: CallersKey | undefined, version: number | undefined): void {
    const [cache, other] = admits(key) ? [this.found, this.unknown] : [this.unknown, this.found];
    other.delete(digest);
    // Another process may have made the key valid since.
    if (cache === this.unknown && (version === undefined || !this.dataVersion.isComplete)) return;
    cache.set(digest, { key, version }, { ttl: version === undefined ? UNVERSIONED_MS : CACHED_MS });
  }

  /**
   * The key with this digest, read by one prepared statement on the connection for reads, which waits neither for writers nor for
   * other requests. Concurrent look-ups share one. Throws service_unavailable when the database does not respond.
   */
  find(digest: string): Promise<FoundKey> {
    const version = this.versions().keys;
    if (version === undefined) return this.read(digest, version);
    // While the data version is unchanged, a look-up that is running sees every commit that this one must see.
    const name = `${version} ${digest}`;
    const running = this.running.get(name);
    if (running) return running;
    const found = this.read(digest, version).finally(() => this.running.delete(name));
    this.running.set(name, found);
    return found;
  }

  private async read(digest: string, version: number | undefined): Promise<FoundKey> {
    const row = await this.reader.first(FIND, [digest]).catch((cause: unknown) => {
      throw refusalOfFailure(cause, 'the database does not respond');
    });
    const key = row && keyOf(row);
    this.set(digest, key, version);
    return { key };
  }
}

/** A row of FIND as the key that it holds. */
function keyOf(row: Readonly<Record<string, unknown>>): CallersKey {
  const { id, clientId, scopes, expiresAt, revokedAt, ...client } = row;
  return {
    ...({ id, scopes: JSON.parse(String(scopes)), expiresAt, revokedAt } as Omit<CallersKey, 'client'>),
    client: Object.assign(new Client(), { id: clientId, ...client }),
  };
}

function admits(key: CallersKey | undefined): boolean {
  return key !== undefined && key.revokedAt === null && key.client.suspendedAt === null;
}
