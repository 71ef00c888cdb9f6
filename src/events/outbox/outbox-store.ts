import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, Not } from 'typeorm';
import { CLOCKS_DIFFER_MS, Clock, isoOf } from '../../core/time/clock.js';
import { DAY_MS, HOUR_MS } from '../../core/time/duration.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { Sweeper } from '../../database/sweeper.js';
import { AT_ONCE, OutboxEvent } from './outbox-event.entity.js';

/** How long an unhandled event is kept, in milliseconds. */
const RETENTION_MS = 90 * DAY_MS;
const MAX_ERROR_LENGTH = 500;
/** Maximum delay of a retry, in milliseconds. */
export const MAX_RETRY_MS = HOUR_MS;

/** A failed delivery. */
export interface FailedDelivery {
  readonly id: bigint;
  readonly failures: number;
  /** Time of the retry, in ms since the Unix epoch; null if the event is parked. */
  readonly dueAt: number | null;
  readonly error: Error;
}

/** The events of one name that wait for one listener, or are parked. */
export interface Backlog {
  readonly listener: string;
  readonly event: string;
  readonly events: number;
  /** When the oldest of them was published, ISO 8601 text in UTC. */
  readonly oldest: string;
}

/** The rows of the outbox. */
@Injectable()
export class OutboxStore {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
    sweeper: Sweeper,
  ) {
    sweeper.add({
      entity: OutboxEvent,
      where: 'published_at < :oldest',
      parameters: (now) => ({ oldest: isoOf(now - RETENTION_MS) }),
    });
  }

  /** Inserts a row for each listener, in the caller's transaction if there is one. */
  async add(listeners: readonly string[], event: string, key: string, data: string): Promise<void> {
    const publishedAt = this.clock.instant();
    const row = { event, key, data, publishedAt, failures: 0, dueAt: AT_ONCE, error: null };
    const rows = listeners.map((listener) => ({ listener, ...row }));
    const [first] = rows;
    // A single row can be committed together with those of other callers.
    await this.dataSource.manager.insert(OutboxEvent, rows.length === 1 && first ? first : rows);
  }

  /**
   * The first deliverable events of a listener, oldest first, without events of keys that are in progress or whose earlier event waits for
   * a retry. An event that is due later than any retry can be does not have to wait, because the clock must have been set back.
   */
  next(listener: string, limit: number, inProgress: readonly string[] = []): Promise<OutboxEvent[]> {
    const now = this.clock.now();
    const later = { soonest: now + 1, latest: now + MAX_RETRY_MS + CLOCKS_DIFFER_MS };
    const deliverable = this.dataSource.manager
      .createQueryBuilder(OutboxEvent, 'waiting')
      .where('waiting.listener = :listener AND waiting.due_at IS NOT NULL', { listener, ...later })
      .andWhere('waiting.due_at NOT BETWEEN :soonest AND :latest')
      .andWhere(
        `NOT EXISTS (SELECT 1 FROM outbox_events later
         WHERE later.listener = :listener AND later.key = waiting.key AND later.due_at BETWEEN :soonest AND :latest)`,
      )
      .orderBy('waiting.id')
      .limit(limit);
    if (inProgress.length > 0) deliverable.andWhere('waiting.key NOT IN (:...inProgress)', { inProgress });
    return deliverable.getMany();
  }

  /** Deletes handled events and updates failed ones. */
  async record(handled: readonly bigint[], failed: readonly FailedDelivery[]): Promise<void> {
    await this.transactions.uncached(async (manager) => {
      if (handled.length > 0) await manager.delete(OutboxEvent, { id: In(handled) });
      for (const { id, failures, dueAt, error } of failed) {
        // PostgreSQL does not allow NUL.
        const reason = String(error).replaceAll('\0', ' ').slice(0, MAX_ERROR_LENGTH);
        await manager.update(
          OutboxEvent,
          { id },
          { failures, dueAt: dueAt === null ? null : BigInt(dueAt), error: reason },
        );
      }
    });
  }

  /** Waiting or parked events by listener and name, read only from an index. */
  async backlog(state: 'waiting' | 'parked' = 'waiting'): Promise<Backlog[]> {
    const rows = await this.dataSource.manager
      .createQueryBuilder(OutboxEvent, 'stored')
      .select('stored.listener', 'listener')
      .addSelect('stored.event', 'event')
      .addSelect('COUNT(*)', 'events')
      .addSelect('MIN(stored.published_at)', 'oldest')
      .where(`stored.due_at IS ${state === 'parked' ? '' : 'NOT '}NULL`)
      .groupBy('stored.listener')
      .addGroupBy('stored.event')
      .orderBy('stored.listener')
      .getRawMany<Omit<Backlog, 'events'> & { events: number | string }>();
    return rows.map((row) => ({ ...row, events: Number(row.events) }));
  }

  async byListener(state: 'waiting' | 'parked'): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const { listener, events } of await this.backlog(state))
      counts.set(listener, (counts.get(listener) ?? 0) + events);
    return counts;
  }

  /** The first parked events, oldest first. */
  parked(limit: number): Promise<OutboxEvent[]> {
    return this.dataSource.manager.find(OutboxEvent, {
      where: { dueAt: IsNull() },
      order: { id: 'ASC' },
      take: limit,
    });
  }

  /** A parked or waiting event, or null. */
  find(id: bigint): Promise<OutboxEvent | null> {
    return this.dataSource.manager.findOneBy(OutboxEvent, { id });
  }

  /** Releases one parked event or all; returns their number. */
  async retry(id?: bigint): Promise<number> {
    const released = { failures: 0, dueAt: AT_ONCE };
    const { affected } = await this.dataSource.manager.update(OutboxEvent, parkedOnes(id), released);
    return affected ?? 0;
  }

  /** Deletes an event that is parked or waits for a removed listener; returns the number of deleted rows. */
  async discard(id: bigint, listeners: readonly string[]): Promise<number> {
    const { affected } = await this.dataSource.manager.delete(OutboxEvent, [
      parkedOnes(id),
      { id, listener: Not(In(listeners)) },
    ]);
    return affected ?? 0;
  }
}

function parkedOnes(id?: bigint) {
  return { dueAt: IsNull(), ...(id === undefined ? {} : { id }) };
}
