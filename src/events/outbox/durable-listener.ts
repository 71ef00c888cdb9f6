import { Logger } from '@nestjs/common';
import type { Clock } from '../../core/time/clock.js';
import type { Transactions } from '../../database/transactions.js';
import type { BackgroundWork, Piece } from '../jobs/background-loop.js';
import { withinTime } from '../limited-time.js';
import type { OutboxEvent } from './outbox-event.entity.js';
import { type FailedDelivery, LONGEST_RETRY_MS, type OutboxStore } from './outbox-store.js';
import { toldFrom } from './told-json.js';

/** Events that are read at a time. */
const BATCH = 100;
/** Keys whose events are handled side by side. */
const MOST_KEYS = 8;
/** Longest time that a listener may take for one event, in milliseconds. */
const LONGEST_ATTEMPT_MS = 60_000;
/** First time until an event is tried again, in milliseconds; it doubles from one failure to the next. */
const FIRST_RETRY_MS = 1_000;
/** After how many failures an event is parked: some eight hours after the first. */
const MOST_FAILURES = 20;
/** After how many failures in succession a listener is left alone for a while. */
const MOST_IN_SUCCESSION = 5;
/** First and longest of these whiles, in milliseconds; they double in between. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Shortest time between two lines of the log about one listener, in milliseconds. */
const LINE_MS = 60_000;

/** What a listener is told beside the event itself. */
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

/** What a listener of durable events works with. */
export interface ListenerParts {
  /** Calls its method for an event. */
  readonly call: (event: string, told: object, delivery: Delivery) => unknown;
  readonly store: OutboxStore;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly count: (listener: string, outcome: 'handled' | 'failed' | 'parked') => void;
  /** Whether nothing more is begun, because the service stops. */
  readonly isStopping: () => boolean;
}

/**
 * Delivers the events that wait for one listener: a few keys side by side, each in its order. A listener that fails with one event
 * after the other is left alone for a while, so that ten thousand waiting events are not all tried against a mail server that is
 * down. The log has a line a minute at most.
 */
export class DurableListener implements BackgroundWork {
  readonly lease: string;
  readonly most = MOST_KEYS;
  readonly logger = new Logger('Events');
  readonly refused: string;
  readonly recovered: string;
  private handled: bigint[] = [];
  private failed: FailedDelivery[] = [];
  private failuresInSuccession = 0;
  private pausedUntil = Number.NEGATIVE_INFINITY;
  private loggedAt = Number.NEGATIVE_INFINITY;
  private unlogged = { failed: 0, parked: 0 };

  constructor(
    private readonly name: string,
    private readonly parts: ListenerParts,
  ) {
    this.lease = `listener/${name}`;
    this.refused = `Events cannot reach ${name}: the database refuses it`;
    this.recovered = `Events reach ${name} again`;
  }

  /** The first events of keys that are not in hand, by key. */
  async due(inHand: ReadonlySet<string>): Promise<Piece[]> {
    // One that fails with everything is tried with one event at a time.
    if (this.isPausing || (this.isFailing && inHand.size > 0)) return [];
    const events = await this.parts.store.next(this.name, this.isFailing ? 1 : BATCH, [...inHand]);
    const keys = new Map(events.map(({ key }): [string, OutboxEvent[]] => [key, []]));
    for (const event of events) keys.get(event.key)?.push(event);
    return [...keys].map(([key, ofKey]) => ({ key, run: (signal) => this.deliver(ofKey, signal) }));
  }

  /** Notes what was handled and what failed; what the database refuses is kept for the next time. */
  async settle(): Promise<void> {
    const { handled, failed } = this;
    if (handled.length + failed.length === 0) return;
    [this.handled, this.failed] = [[], []];
    try {
      await this.parts.store.settle(handled, failed);
    } catch (error) {
      this.handled.push(...handled);
      this.failed.push(...failed);
      throw error;
    }
  }

  /** One that fails keeps those behind it waiting. */
  private async deliver(events: readonly OutboxEvent[], signal: AbortSignal): Promise<boolean> {
    for (const event of events)
      if (this.isPausing || this.parts.isStopping() || !(await this.handle(event, signal))) break;
    return !signal.aborted;
  }

  /** Answers whether the listener has handled it. */
  private async handle(row: OutboxEvent, signal: AbortSignal): Promise<boolean> {
    const { id, failures, publishedAt } = row;
    const { call, count, transactions } = this.parts;
    try {
      await withinTime(LONGEST_ATTEMPT_MS, signal, (limited) =>
        transactions.outside(() =>
          call(row.event, toldFrom(row.told), { id, failures, publishedAt, signal: limited }),
        ),
      );
    } catch (error) {
      // Cut by the stop or by the loss of the lease: no fault of the listener, and it will be given again.
      if (!signal.aborted) this.fail(row, error);
      return false;
    }
    count(this.name, 'handled');
    this.handled.push(id);
    this.failuresInSuccession = 0;
    this.pausedUntil = Number.NEGATIVE_INFINITY;
    return true;
  }

  private fail(row: OutboxEvent, error: unknown): void {
    const { clock, count } = this.parts;
    const failures = row.failures + 1;
    const isParked = failures >= MOST_FAILURES;
    const delay = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
    this.failed.push({ id: row.id, failures, dueAt: isParked ? null : clock.now() + delay, error });
    count(this.name, 'failed');
    if (isParked) count(this.name, 'parked');
    this.pause();
    this.log(row, isParked, error);
  }

  private get isFailing(): boolean {
    return this.failuresInSuccession >= MOST_IN_SUCCESSION;
  }

  private get isPausing(): boolean {
    return this.parts.clock.steady() < this.pausedUntil;
  }

  private pause(): void {
    // What was in hand when the pause began makes it no longer.
    if (this.isPausing) return;
    this.failuresInSuccession += 1;
    if (!this.isFailing) return;
    const doubled = FIRST_PAUSE_MS * 2 ** Math.min(this.failuresInSuccession - MOST_IN_SUCCESSION, 16);
    this.pausedUntil = this.parts.clock.steady() + Math.min(doubled, LONGEST_PAUSE_MS);
  }

  private log({ event, id }: OutboxEvent, isParked: boolean, error: unknown): void {
    this.unlogged.failed += 1;
    if (isParked) this.unlogged.parked += 1;
    const now = this.parts.clock.steady();
    if (now - this.loggedAt < LINE_MS) return;
    const { failed, parked } = this.unlogged;
    const whole = failed > 1 ? ` (${failed} failures since the last line, ${parked} events parked)` : '';
    const next = isParked ? 'is parked: `petstore outbox list` shows it' : 'is tried again';
    const reason = error instanceof Error ? error.message : String(error);
    const stack = error instanceof Error ? error.stack : undefined;
    this.logger.error(`Listener ${this.name} failed (${reason}); ${event} ${id} ${next}${whole}`, stack);
    this.loggedAt = now;
    this.unlogged = { failed: 0, parked: 0 };
  }
}
