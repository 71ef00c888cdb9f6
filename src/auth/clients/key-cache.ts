import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ApiKey } from './api-key.entity.js';
import { Client } from './client.entity.js';
import { Clock } from '../../core/time/clock.js';
import { JsonReader } from '../../database/database.js';
import { TransientMap } from '../../core/transient-map.js';
import { refusalOfFailure } from '../../throttling/quota-refusals.js';

/** Maximum age of a cached key, in milliseconds since the start of its read. */
const USE_WRITE_MS = 1_000;
/**
 * A key used after this age, in milliseconds, is refreshed in the background, so that requests do not wait for it when connections are
 * scarce.
 */
const REFRESHED_MS = 500;
/** How long a key counts as recently valid, in milliseconds. */
const MAX_AGE_MS = 60_000;
/** Maximum number of cached keys. */
const MAX_KEYS = 10_000;

/** The fields of a key that a request needs, with its client. */
export type CallersKey = Pick<ApiKey, 'id' | 'scopes' | 'expiresAt' | 'revokedAt' | 'client'>;

const FIND = `SELECT api_keys.id, client_id AS "clientId", scopes, expires_at AS "expiresAt", revoked_at AS "revokedAt", name, plan,
  per_minute AS "perMinute", per_day AS "perDay", clients.created_at AS "createdAt", suspended_at AS "suspendedAt"
  FROM api_keys JOIN clients ON clients.id = client_id WHERE digest = ?1`;

interface Read<Result> {
  readonly result: Result;
  /** A time of the monotonic clock. */
  readonly startedAt: number;
  /** The number of changes made by this process before the read. */
  readonly changes: number;
}

/**
 * Finds the key of a digest, with its client, and caches a valid key for one second, because another process may change it. Changes by this
 * process apply immediately. An unknown, revoked, expired or suspended key is read for each request, because it may have become valid.
 */
@Injectable()
export class KeyCache {
  /** Hits and misses, for metrics. */
  readonly use = { hits: 0, misses: 0 };
  private readonly entries = new LRUCache<string, Read<CallersKey>>({ max: MAX_KEYS });
  private readonly running = new TransientMap<string, Read<Promise<CallersKey | undefined>>>();
  private changes = 0;

  constructor(
    private readonly reader: JsonReader,
    private readonly clock: Clock,
  ) {}

  get size(): number {
    return this.entries.size;
  }

  /** Call it after this process has committed a change to a key or client, so that earlier and running reads are not used again. */
  forget(): void {
    this.changes += 1;
  }

  /** The key of a digest as last read within a minute, if it was valid then. It must not admit a request. */
  lastRead(digest: string): CallersKey | undefined {
    const entry = this.entries.get(digest);
    return entry && this.clock.steady() - entry.startedAt < MAX_AGE_MS ? entry.result : undefined;
  }

  /** The cached key of a digest, if it may still be used. */
  get(digest: string): CallersKey | undefined {
    const entry = this.entries.get(digest);
    const key = entry && this.isUsed(entry) && this.admits(entry.result) ? entry.result : undefined;
    if (key) this.use.hits += 1;
    if (entry && key && this.clock.steady() - entry.startedAt >= REFRESHED_MS)
      this.share(digest).catch(() => undefined);
    return key;
  }

  /**
   * Reads the key with this digest with one prepared statement on the connection for reads, which waits neither for writers nor for other
   * requests. Concurrent lookups share one read. Throws service_unavailable if the database does not respond.
   */
  find(digest: string): Promise<CallersKey | undefined> {
    this.use.misses += 1;
    return this.share(digest);
  }

  private share(digest: string): Promise<CallersKey | undefined> {
    const shared = this.running.get(digest);
    if (shared && this.isUsed(shared)) return shared.result;
    const reading = { startedAt: this.clock.steady(), changes: this.changes };
    const running = {
      ...reading,
      result: this.read(digest)
        .then((key) => {
          // A read that took too long is used once, because the entry has already expired.
          if (key && this.admits(key)) this.entries.set(digest, { ...reading, result: key });
          else this.entries.delete(digest);
          return key;
        })
        .finally(() => {
          if (this.running.get(digest) === running) this.running.delete(digest);
        }),
    };
    this.running.set(digest, running);
    return running.result;
  }

  private async read(digest: string): Promise<CallersKey | undefined> {
    const row = await this.reader.first(FIND, [digest]).catch((cause: unknown) => {
      throw refusalOfFailure(cause, 'the database does not respond');
    });
    return row && keyOf(row);
  }

  private isUsed({ startedAt, changes }: Read<unknown>): boolean {
    return changes === this.changes && this.clock.steady() - startedAt < USE_WRITE_MS;
  }

  private admits({ revokedAt, expiresAt, client }: CallersKey): boolean {
    return (
      revokedAt === null &&
      client.suspendedAt === null &&
      (expiresAt === null || Date.parse(expiresAt) > this.clock.now())
    );
  }
}

function keyOf(row: Readonly<Record<string, unknown>>): CallersKey {
  const { id, clientId, scopes, expiresAt, revokedAt, ...client } = row;
  return {
    ...({ id, scopes: JSON.parse(String(scopes)), expiresAt, revokedAt } as Omit<CallersKey, 'client'>),
    client: Object.assign(new Client(), { id: clientId, ...client }),
  };
}
