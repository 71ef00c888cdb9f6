import { Injectable } from '@nestjs/common';
import { DataSource, LessThanOrEqual } from 'typeorm';
import { TransientMap } from '../../core/transient-map.js';
import { CLOCKS_DIFFER_MS, Clock, isoOf } from '../../core/time/clock.js';
import { DAY_MS } from '../../core/time/duration.js';
import { JsonReader } from '../../database/database.js';
import { Settings } from '../../core/config/settings.js';
import { Sweeper } from '../../database/sweeper.js';
import { IdempotencyEntry } from './idempotency-entry.entity.js';

const FIND = `SELECT digest, status, headers, body FROM idempotency_entries
  WHERE client_id = ?1 AND key = ?2 AND created_at > ?3`;

/** The response to a retry, and the digest that identifies the request. */
export type StoredResponse = Pick<IdempotencyEntry, 'digest' | 'status' | 'headers' | 'body'>;

/**
 * Stores responses of requests with an `Idempotency-Key` for IDEMPOTENCY_RETENTION_DAYS, measured with the machine's clock. If the clock is
 * set back, a response is kept longer by the same amount. A response whose creation time is then in the future counts as new: the hourly
 * sweep resets the time to that of the sweep, so that the response is kept for a full retention period from then on.
 */
@Injectable()
export class IdempotencyStore {
  /** Idempotency keys that this process is executing, each after its client's id. */
  readonly inProgress = new TransientMap<string, true>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly reader: JsonReader,
    private readonly clock: Clock,
    private readonly settings: Settings,
    sweeper: Sweeper,
  ) {
    const entity = IdempotencyEntry;
    sweeper.add(
      { entity, where: 'created_at <= :oldest', parameters: (now) => ({ oldest: this.oldest(now) }) },
      {
        entity,
        // Written while the clock was ahead. If they were deleted, a retry would be executed again, so they count as new.
        where: 'created_at > :ahead',
        parameters: (now) => ({ ahead: isoOf(now + CLOCKS_DIFFER_MS) }),
        set: (now) => ({ createdAt: isoOf(now) }),
      },
    );
  }

  /** The stored response for a client's key; undefined if there is none or it is too old. */
  async find(clientId: string, key: string): Promise<StoredResponse | undefined> {
    const row = await this.reader.first(FIND, [clientId, key, this.oldest()]);
    return (
      row && {
        digest: String(row['digest']),
        status: Number(row['status']),
        headers: JSON.parse(String(row['headers'])) as StoredResponse['headers'],
        body: String(row['body']),
      }
    );
  }

  /** Stores a response in the caller's transaction. Fails if another process has stored one in the meantime. */
  async add(entry: Omit<IdempotencyEntry, 'createdAt'>): Promise<void> {
    const { clientId, key } = entry;
    const { manager } = this.dataSource;
    await manager.delete(IdempotencyEntry, { clientId, key, createdAt: LessThanOrEqual(this.oldest()) });
    await manager.insert(IdempotencyEntry, {
      ...entry,
      createdAt: isoOf(this.clock.now()),
    });
  }

  private oldest(now = this.clock.now()): string {
    return isoOf(now - this.settings.idempotencyRetentionDays * DAY_MS);
  }
}
