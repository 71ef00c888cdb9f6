import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { DataSource, LessThanOrEqual, type EntityManager } from 'typeorm';
import { Clock } from '../../clock.js';
import { JsonReader } from '../../database/json-reader.js';
import { IdempotencyEntry } from './idempotency-entry.entity.js';

/** How long an answer is kept, in milliseconds. */
const KEPT_MS = 24 * 3_600_000;
/** How often answers that are older are deleted, in milliseconds. */
const SWEEP_MS = 3_600_000;

const FIND = `SELECT digest, status, headers, body FROM idempotency_entries
  WHERE client_id = ?1 AND key = ?2 AND created_at > ?3`;

/** What is answered to a repetition, and what tells whether it is one. */
export type KeptAnswer = Pick<IdempotencyEntry, 'digest' | 'status' | 'headers' | 'body'>;

/** Keeps the answers of requests with an `Idempotency-Key`, for 24 hours. */
@Injectable()
export class IdempotencyStore implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Idempotency');
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly reader: JsonReader,
    private readonly clock: Clock,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.sweep();
    this.timer = setInterval(() => void this.sweep(), SWEEP_MS);
    // Nobody waits for this alone.
    this.timer.unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** The answer kept for a client's key; undefined when there is none, or it is too old to count. */
  async find(clientId: string, key: string): Promise<KeptAnswer | undefined> {
    const row = await this.reader.first(FIND, [clientId, key, this.oldest()]);
    return (
      row && {
        digest: String(row['digest']),
        status: Number(row['status']),
        headers: JSON.parse(String(row['headers'])) as Record<string, string>,
        body: String(row['body']),
      }
    );
  }

  /** Keeps an answer, in the transaction of what it answers. Fails when another process has kept one meanwhile. */
  async keep(manager: EntityManager, answer: Omit<IdempotencyEntry, 'createdAt'>): Promise<void> {
    const { clientId, key } = answer;
    await manager.delete(IdempotencyEntry, { clientId, key, createdAt: LessThanOrEqual(this.oldest()) });
    await manager.insert(IdempotencyEntry, {
      ...answer,
      createdAt: new Date(this.clock.now()).toISOString(),
    });
  }

  /** Deletes the answers that are too old to count. Never throws. */
  async sweep(): Promise<void> {
    try {
      await this.dataSource.manager.delete(IdempotencyEntry, { createdAt: LessThanOrEqual(this.oldest()) });
    } catch (error) {
      this.logger.error('Old answers cannot be deleted; the next hour tries again', error);
    }
  }

  private oldest(): string {
    return new Date(this.clock.now() - KEPT_MS).toISOString();
  }
}
