import { Logger } from '@nestjs/common';
import type { Clock } from '../../core/time/clock.js';
import { OneAtATime } from '../../database/one-at-a-time.js';
import type { Transactions } from '../../database/transactions.js';
import type { Leases } from '../jobs/leases.js';
import type { OutboxEvent } from './outbox-event.entity.js';
import type { FailedDelivery, OutboxStore } from './outbox-store.js';
import { attemptLimited } from './attempt-limited.js';
import { KeyLanes } from './key-lanes.js';
import { ListenerTrouble } from './listener-trouble.js';
import { toldFrom } from './told-json.js';

/** Events that are read at a time. */
const BATCH = 100;
/** Keys whose events are handled side by side. */
export const MOST_KEYS = 8;
/** How long what was handled may be noted late, in milliseconds: a process that dies hands it out again. */
const NOTED_LATE_MS = 1_000;
/** First and longest time until an event is tried again, in milliseconds; it doubles in between. */
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 3_600_000;
/** After how many failures an event is parked: some eight hours after the first. */
export const MOST_FAILURES = 20;

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

/** A listener of durable events: how it is called, whatever the event. */
export interface DurableListener {
  readonly name: string;
  readonly call: (event: string, told: object, delivery: Delivery) => unknown;
}

/** What a queue works with. */
export interface QueueParts {
  readonly store: OutboxStore;
  readonly leases: Leases;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly count: (listener: string, outcome: 'handled' | 'failed' | 'parked') => void;
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal;
  /** Whether nothing new is begun, because the service stops. */
  readonly isStopping: () => boolean;
}

/** Delivers the events that wait for one listener, by one process at a time: a few keys at once, each in its order. */
export class ListenerQueue {
  private readonly logger = new Logger('Events');
  private readonly runs = new OneAtATime(() => this.run());
  private readonly trouble: ListenerTrouble;
  private handled: bigint[] = [];
  private failed: FailedDelivery[] = [];
  private notedAt = 0;
  /** What is in hand, while this process delivers. */
  private lanes: KeyLanes<OutboxEvent> | undefined;
  /** Whether there may be events that were not read yet and are of no key in hand. */
  private mayBeMore = true;
  /** Whether the last read may have passed over events: those of keys in hand, or those after the last that was read. */
  private hasPassedOver = false;
  /** Whether the database refused what the delivery needs; the log is told when that begins and when it ends. */
  private isFailing = false;

  constructor(
    private readonly listener: DurableListener,
    private readonly parts: QueueParts,
  ) {
    this.trouble = new ListenerTrouble(listener.name, parts.clock);
  }

  /** Delivers what is due until nothing is. Never rejects. */
  deliver(): Promise<void> {
    this.mayBeMore = true;
    this.lanes?.wake();
    return this.runs.run();
  }

  private async run(): Promise<void> {
    const { store, leases, isStopping } = this.parts;
    const { name } = this.listener;
    try {
      if (this.trouble.isPausing || isStopping() || !(await store.hasNext(name))) return;
      const held = await leases.hold(`listener/${name}`, (lost) => this.drain(lost));
      if (held && this.isFailing) this.logger.log(`Events reach ${name} again`);
      if (held) this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) this.logger.error(`Events cannot reach ${name}: the database refuses it`, error);
      this.isFailing = true;
    }
  }

  private async drain(lost: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([lost, this.parts.stopping]);
    const handle = async (event: OutboxEvent): Promise<boolean> =>
      this.goesOn(signal) && (await this.handle(event, signal));
    this.lanes = new KeyLanes(MOST_KEYS, handle, () => (this.mayBeMore ||= this.hasPassedOver));
    try {
      while (await this.feed(this.lanes, signal)) {
        await this.lanes.progress();
        if (this.parts.clock.steady() - this.notedAt >= NOTED_LATE_MS) await this.note();
      }
      await this.note();
    } finally {
      await this.lanes.close();
      this.lanes = undefined;
    }
  }

  /** Hands in more events if that is of use; answers whether any are in hand then. */
  private async feed(lanes: KeyLanes<OutboxEvent>, signal: AbortSignal): Promise<boolean> {
    // One that fails with everything is tried with one event at a time.
    const isWanted = lanes.isIdle || (lanes.hasRoom && this.mayBeMore && !this.trouble.isFailing);
    if (isWanted && this.goesOn(signal)) {
      // Before what was handled is noted: what ends from here on is still in the table when it is read.
      const inHand = lanes.keys;
      this.mayBeMore = false;
      this.hasPassedOver = inHand.length > 0;
      await this.note();
      const most = this.trouble.isFailing ? 1 : BATCH;
      const batch = await this.parts.store.next(this.listener.name, most, inHand);
      if (batch.length === most) this.mayBeMore = this.hasPassedOver = true;
      lanes.add(batch);
      // All of it has ended meanwhile.
      if (lanes.isIdle && inHand.length > 0) return this.feed(lanes, signal);
    }
    return !lanes.isIdle;
  }

  private goesOn(signal: AbortSignal): boolean {
    return !signal.aborted && !this.parts.isStopping() && !this.trouble.isPausing;
  }

  /** Answers whether the listener has handled it. */
  private async handle(row: OutboxEvent, signal: AbortSignal): Promise<boolean> {
    const { count, transactions } = this.parts;
    const { name } = this.listener;
    const { id, failures, publishedAt } = row;
    try {
      await attemptLimited(signal, (limited) =>
        transactions.outside(() => {
          const delivery: Delivery = { id, failures, publishedAt, signal: limited };
          return this.listener.call(row.event, toldFrom(row.told), delivery);
        }),
      );
    } catch (error) {
      // Cut by the stop or by the loss of the lease: no fault of the listener, and it will be given again.
      if (signal.aborted) return false;
      this.fail(row, error);
      return false;
    }
    count(name, 'handled');
    this.handled.push(id);
    this.trouble.end();
    return true;
  }

  private fail(row: OutboxEvent, error: unknown): void {
    const { clock, count } = this.parts;
    const failures = row.failures + 1;
    const isParked = failures >= MOST_FAILURES;
    const delay = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
    this.failed.push({ id: row.id, failures, dueAt: isParked ? null : clock.now() + delay, error });
    count(this.listener.name, 'failed');
    if (isParked) count(this.listener.name, 'parked');
    this.trouble.begin(row.event, row.id, isParked, error);
  }

  /** Notes what was handled and what failed; what the database refuses is kept for the next time. */
  private async note(): Promise<void> {
    this.notedAt = this.parts.clock.steady();
    const { handled, failed } = this;
    if (handled.length + failed.length === 0) return;
    await this.parts.store.settle(handled, failed);
    this.handled = this.handled.slice(handled.length);
    this.failed = this.failed.slice(failed.length);
  }
}
