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

/** Number of events that are read at once. */
const BATCH = 100;
/** Number of keys whose events are handled in parallel. */
const MAX_KEYS = 8;
/** Longest time that a listener may take for one event, in milliseconds. */
const ATTEMPT_TIMEOUT_MS = 60_000;
/** First time until an event is tried again, in milliseconds; it doubles from one failure to the next. */
const FIRST_RETRY_MS = 1_000;
/** After how many failures an event is parked: some eight hours after the first. */
const MAX_FAILURES = 20;
/** After how many consecutive failures a listener is paused. */
const MAX_CONSECUTIVE = 5;
/** First and longest of these pauses, in milliseconds; they double in between. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** Shortest time between two lines of the log about one listener, in milliseconds. */
const LINE_MS = 60_000;

/** Data of a delivery, besides the event. */
export interface Delivery {
  /** The same each time that this event is delivered to this listener, which may be more than once. */
  readonly id: bigint;
  /** How often the listener has failed with it before. */
  readonly failures: number;
  /** When it was published, ISO 8601 text in UTC. */
  readonly publishedAt: string;
  /** Aborts when the listener has taken 60 s, when the service stops, or when another process takes over. */
  readonly signal: AbortSignal;
}

/** Calls the method that listens to an event. */
export type Handler = (data: object, delivery: Delivery) => unknown;

/**
 * Delivers the events that wait for one listener: a few keys side by side, each in its order. A listener that fails with one event
 * after the other is paused, so that ten thousand waiting events are not all tried against a mail server that is
 * down. The log has a line a minute at most.
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

  /** The first events of keys that are not in hand, by key. */
  async findDue(inProgress: ReadonlySet<string>): Promise<WorkItem[]> {
    // A listener that fails with everything is tried with one event at a time.
    if (this.isPausing || (this.isFailing && inProgress.size > 0)) return [];
    const events = await this.store.next(this.name, this.isFailing ? 1 : BATCH, [...inProgress]);
    const keys = new Map(events.map(({ key }): [string, OutboxEvent[]] => [key, []]));
    for (const event of events) keys.get(event.key)?.push(event);
    return [...keys].map(([key, ofKey]) => ({
      key,
      run: (signal, loop) => this.deliver(ofKey, signal, loop),
    }));
  }

  /** Notes handled and failed events; if the database fails, they are kept for the next time. */
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

  /** One that fails keeps those behind it waiting. */
  private async deliver(
    events: readonly OutboxEvent[],
    signal: AbortSignal,
    loop: BackgroundLoop,
  ): Promise<boolean> {
    for (const event of events)
      if (this.isPausing || loop.isStopping || !(await this.handle(event, signal))) break;
    return !signal.aborted;
  }

  /** Returns whether the listener has handled it. */
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
      // Aborted by the stop or the loss of the lease, not by the listener; it will be delivered again.
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
    // Events that were being handled when the pause began do not extend it.
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
    const next = isParked ? 'is parked; see `petstore outbox list`' : 'is tried again';
    this.logger.error(`Listener ${this.name} failed (${message}); ${event} ${id} ${next}${full}`, stack);
    this.loggedAt = now;
    this.failuresSinceLine = 0;
  }
}
