import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { DataSource, type EntityMetadata, type ObjectLiteral } from 'typeorm';
import { ApiKey } from './clients/api-key.entity.js';
import { Client } from './clients/client.entity.js';
import { Clock } from '../core/time/clock.js';
import { DataVersion, type Versions } from '../database/data-version.js';
import { JsonReader } from '../database/database.js';
import { CacheUse } from '../core/metrics/cache-use.js';
import { TransientMap } from '../core/transient-map.js';
import { refusalOfFailure } from '../throttling/quota-refusals.js';

/** Maximum age of an entry, in milliseconds. */
const CACHED_MS = 5_000;
/** Maximum number of cached valid keys. */
const MOST_KEYS = 10_000;
/** Maximum number of cached invalid digests: enough for clients that repeat a wrong key, too few to fill memory. */
const MOST_UNKNOWN = 1_000;

/** The key with a digest, with its client, or none. */
export interface FoundKey {
  readonly key: ApiKey | undefined;
}

/** A cached key, with the data version that it was read at. */
export interface CachedKey extends FoundKey {
  readonly version: number | undefined;
}

/**
 * Finds the key of a digest, with its client, and caches it, or its absence, for at most 5 seconds. Where the database has a
 * DataVersion, an entry is used only while that is unchanged: any commit, such as a revocation by another process, makes
 * entries stale at once. Where it has none, only keys that admit requests are cached, because a key that is issued or resumed
 * now must work now. They have a separate cache, so that wrong keys evict none of them.
 */
@Injectable()
export class KeyCache {
  /** Hits and misses, for metrics. */
  readonly use = new CacheUse();
  private readonly found: LRUCache<string, CachedKey>;
  private readonly unknown: LRUCache<string, CachedKey>;
  /** The look-ups that are running, by data version and digest. */
  private readonly running = new TransientMap<string, Promise<FoundKey>>();
  private sql: string | undefined;

  constructor(
    private readonly dataVersion: DataVersion,
    private readonly dataSource: DataSource,
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

  /** Whether what was read at a data version is still valid. */
  isCurrent(version: number | undefined, { keys } = this.versions()): boolean {
    return version === keys && (version !== undefined || !this.dataVersion.isShared);
  }

  /** Caches what was read after the data version. */
  set(digest: string, key: ApiKey | undefined, version: number | undefined): void {
    const [cache, other] = admits(key) ? [this.found, this.unknown] : [this.unknown, this.found];
    other.delete(digest);
    // Another process may have made the key valid since.
    if (cache === this.unknown && (version === undefined || !this.dataVersion.isComplete)) return;
    cache.set(digest, { key, version });
  }

  /**
   * The key with this digest, read by one prepared statement on the connection for reads, which waits neither for writers nor for
   * other requests. Concurrent look-ups share one. Throws service_unavailable when the database does not answer.
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
    const row = await this.reader.first(this.statement(), [digest]).catch((cause: unknown) => {
      throw refusalOfFailure(cause, 'the database does not answer');
    });
    const key = row && this.hydrated(row);
    this.set(digest, key, version);
    return { key };
  }

  private statement(): string {
    const [keys, clients] = [this.dataSource.getMetadata(ApiKey), this.dataSource.getMetadata(Client)];
    this.sql ??=
      `SELECT ${[...selectionOf(keys), ...selectionOf(clients)].join(', ')} FROM ${keys.tableName} ` +
      `JOIN ${clients.tableName} ON ${clients.tableName}.id = ${keys.tableName}.client_id ` +
      `WHERE ${keys.tableName}.digest = ?1`;
    return this.sql;
  }

  private hydrated(row: Readonly<Record<string, unknown>>): ApiKey {
    const key = this.entityOf(this.dataSource.getMetadata(ApiKey), row) as ApiKey;
    key.client = this.entityOf(this.dataSource.getMetadata(Client), row) as Client;
    return key;
  }

  private entityOf(metadata: EntityMetadata, row: Readonly<Record<string, unknown>>): ObjectLiteral {
    const entity = metadata.create();
    for (const column of metadata.columns) {
      const stored = row[nameOf(metadata, column.propertyName)];
      column.setEntityValue(entity, this.dataSource.driver.prepareHydratedValue(stored, column));
    }
    return entity;
  }
}

function admits(key: ApiKey | undefined): boolean {
  return key !== undefined && key.revokedAt === null && key.client.suspendedAt === null;
}

function selectionOf(metadata: EntityMetadata): string[] {
  return metadata.columns.map(
    ({ databaseName, propertyName }) =>
      `${metadata.tableName}.${databaseName} AS "${nameOf(metadata, propertyName)}"`,
  );
}

function nameOf({ tableName }: EntityMetadata, property: string): string {
  return `${tableName}.${property}`;
}
