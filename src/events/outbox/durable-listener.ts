import { format } from 'node:util';
import { Logger } from '@nestjs/common';
import type { Clock } from '../../core/time/clock.js';
import type { Transactions } from '../../database/transactions/transactions.js';
import type { BackgroundLoop, BackgroundWork, WorkItem } from '../jobs/background-loop.js';
import { withTimeout } from '../limited-time.js';
import type { OutboxEvent } from './outbox-event.entity.js';
import type { OutboxMetrics } from './outbox-metrics.js';
import { type FailedDelivery, MAX_RETRY_MS, type OutboxStore } from './outbox-store.js';
import { eventDataFrom } from './event-data.js';

/** Number of events read at once. */
const BATCH = 100;
/** Number of keys whose events are handled in parallel. */
const MAX_KEYS = 8;
/** Time limit for a listener to handle one event, in milliseconds. */
const ATTEMPT_TIMEOUT_MS = 60_000;
/** Delay of the first retry of an event, in milliseconds; it doubles with each failure. */
const FIRST_RETRY_MS = 1_000;
/** Number of failures after which an event is parked: about eight hours after the first. */
const MAX_FAILURES = 20;
/** Number of consecutive failures after which a listener is paused. */
const MAX_CONSECUTIVE = 5;
/** First and maximum pause, in milliseconds; it doubles in between. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** Minimum time between two log lines about one listener, in milliseconds. */
const LINE_MS = 60_000;

/** A delivery of an event. */
export interface Delivery {
  /** The same for each delivery of this event to this listener; there may be several. */
  readonly id: bigint;
  /** How often the listener has already failed to handle it. */
  readonly failures: number;
  /** When the event was published, ISO 8601 text in UTC. */
  readonly publishedAt: string;
  /** Aborts after 60 s, when the service stops, or when another process takes over. */
  readonly signal: AbortSignal;
}

/** Calls the method that handles an event. */
export type Handler = (data: object, delivery: Delivery) => unknown;

/**
 * Delivers waiting events to one listener: several keys in parallel, each in order. A listener that keeps failing is paused, so that ten
 * thousand waiting events are not all tried against a mail server that is down. It logs at most one line per minute.
 */
export class DurableListener implements BackgroundWork {
  readonly lease: string;
  readonly maxConcurrent = MAX_KEYS;
  readonly logger = new Logger('Events');
  readonly refused: string;
  readonly recovered: string;
  private handled: bigint[] = [];
  private failed: FailedDelivery[] = [];
  private consecutiveFailures = 0;
  private pausedUntil = Number.NEGATIVE_INFINITY;
  private loggedAt = Number.NEGATIVE_INFINITY;
  private failuresSinceLine = 0;

  /** `handlers` are its methods by event. */
  constructor(
    private readonly name: string,
    private readonly handlers: ReadonlyMap<string, Handler>,
    private readonly store: OutboxStore,
    private readonly transactions: Transactions,
    private readonly metrics: OutboxMetrics,
    private readonly clock: Clock,
  ) {
    this.lease = `listener/${name}`;
    this.refused = `Events cannot be delivered to ${name} because the database failed`;
    this.recovered = `Events are delivered to ${name} again`;
  }

  /** The first events of each key that is not in progress. */
  async findDue(inProgress: ReadonlySet<string>): Promise<WorkItem[]> {
    // A listener that keeps failing is tried with one event at a time.
    if (this.isPausing || (this.isFailing && inProgress.size > 0)) return [];
    const events = await this.store.next(this.name, this.isFailing ? 1 : BATCH, [...inProgress]);
    const keys = new Map(events.map(({ key }): [string, OutboxEvent[]] => [key, []]));
    for (const event of events) keys.get(event.key)?.push(event);
    return [...keys].map(([key, ofKey]) => ({
      key,
      run: (signal, loop) => this.deliver(ofKey, signal, loop),
    }));
  }

  /** Stores the results of deliveries; if the database fails, they are kept for the next call. */
  async record(): Promise<void> {
    const { handled, failed } = this;
    if (handled.length + failed.length === 0) return;
    [this.handled, this.failed] = [[], []];
    try {
      await this.store.record(handled, failed);
    } catch (error) {
      this.handled.push(...handled);
      this.failed.push(...failed);
      throw error;
    }
  }

  /** A failed event holds up the later ones of its key. */
  private async deliver(
    events: readonly OutboxEvent[],
    signal: AbortSignal,
    loop: BackgroundLoop,
  ): Promise<boolean> {
    for (const event of events)
      if (this.isPausing || loop.isStopping || !(await this.handle(event, signal))) break;
    return !signal.aborted;
  }

  private async handle(row: OutboxEvent, signal: AbortSignal): Promise<boolean> {
    const { id, event, failures, publishedAt } = row;
    try {
      await withTimeout(ATTEMPT_TIMEOUT_MS, signal, (limited) =>
        this.transactions.outside(() => {
          const handler = this.handlers.get(event);
          if (!handler) throw new Error(`Listener ${this.name} no longer listens to ${event}.`);
          return handler(eventDataFrom(row.data), { id, failures, publishedAt, signal: limited });
        }),
      );
    } catch (error) {
      // Aborted by the shutdown or the loss of the lease, not by the listener, so it will be delivered again.
      if (!signal.aborted) this.fail(row, error);
      return false;
    }
    this.metrics.count(this.name, 'handled');
    this.handled.push(id);
    this.consecutiveFailures = 0;
    this.pausedUntil = Number.NEGATIVE_INFINITY;
    return true;
  }

  private fail(row: OutboxEvent, thrown: unknown): void {
    // Not String(), which throws for an object without a prototype.
    const error = thrown instanceof Error ? thrown : new Error(format('%s', thrown));
    const failures = row.failures + 1;
    const isParked = failures >= MAX_FAILURES;
    const delay = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
    this.failed.push({ id: row.id, failures, dueAt: isParked ? null : this.clock.now() + delay, error });
    this.metrics.count(this.name, 'failed');
    if (isParked) this.metrics.count(this.name, 'parked');
    // Events in progress when the pause started do not extend it.
    if (!this.isPausing) this.pause();
    this.log(row, isParked, error);
  }

  private get isFailing(): boolean {
    return this.consecutiveFailures >= MAX_CONSECUTIVE;
  }

  private get isPausing(): boolean {
    return this.clock.steady() < this.pausedUntil;
  }

  private pause(): void {
    this.consecutiveFailures += 1;
    if (!this.isFailing) return;
    const doubled = FIRST_PAUSE_MS * 2 ** Math.min(this.consecutiveFailures - MAX_CONSECUTIVE, 16);
    this.pausedUntil = this.clock.steady() + Math.min(doubled, MAX_PAUSE_MS);
  }

  private log({ event, id }: OutboxEvent, isParked: boolean, { message, stack }: Error): void {
    this.failuresSinceLine += 1;
    const now = this.clock.steady();
    if (now - this.loggedAt < LINE_MS) return;
    const full =
      this.failuresSinceLine > 1 ? ` (${this.failuresSinceLine} failures since the last line)` : '';
    const next = isParked ? 'is parked; see `petstore outbox list`' : 'will be retried';
    this.logger.error(`Listener ${this.name} failed (${message}); ${event} ${id} ${next}${full}`, stack);
    this.loggedAt = now;
    this.failuresSinceLine = 0;
  }
}
