import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Clock } from '../../core/time/clock.js';
import { Metrics } from '../../core/metrics/metrics.js';
import type { LabeledValue } from '../../core/metrics/tally.js';
import { type Backlog, OutboxStore } from './outbox-store.js';

type Labels = 'listener' | 'event';

/** Metrics of durable events: deliveries by this process, and waiting events in the database. */
@Injectable()
export class OutboxMetrics {
  private readonly deliveries: Counter<'listener' | 'outcome'>;
  private handled: readonly Record<Labels, string>[] = [];
  private reading: Promise<readonly Backlog[]> | undefined;

  constructor(
    metrics: Metrics,
    private readonly store: OutboxStore,
    private readonly clock: Clock,
  ) {
    this.deliveries = metrics.counter(
      'petstore_outbox_deliveries_total',
      'Deliveries of durable events: handled, failed, and parked after too many failures.',
      ['listener', 'outcome'],
    );
    const labels: Labels[] = ['listener', 'event'];
    metrics.gauge(
      'petstore_outbox_waiting_events',
      'Durable events that wait for a listener, excluding parked events.',
      labels,
      () => this.values(({ events }) => events),
    );
    metrics.gauge(
      'petstore_outbox_oldest_waiting_seconds',
      'Age of the oldest durable event that waits for a listener, in seconds.',
      labels,
      () => this.values(({ oldest }) => Math.max(0, this.clock.now() - Date.parse(oldest)) / 1_000),
    );
  }

  /** Includes these events and listeners in the metrics even if no event is waiting. */
  show(handled: readonly Record<Labels, string>[]): void {
    this.handled = handled;
    // An increase needs a sample before the first delivery.
    for (const { listener } of handled)
      for (const outcome of ['handled', 'failed', 'parked']) this.deliveries.inc({ listener, outcome }, 0);
  }

  count(listener: string, outcome: 'handled' | 'failed' | 'parked'): void {
    this.deliveries.inc({ listener, outcome });
  }

  private async values(valueOf: (backlog: Backlog) => number): Promise<LabeledValue<Labels>[]> {
    const none = this.handled.map((labels) => ({ labels, value: 0 }));
    const waiting = (await this.backlog()).map((one) => ({
      labels: { listener: one.listener, event: one.event },
      value: valueOf(one),
    }));
    return [...none, ...waiting];
  }

  /** One query for both gauges. */
  private backlog(): Promise<readonly Backlog[]> {
    return (this.reading ??= this.store.backlog().finally(() => (this.reading = undefined)));
  }
}
