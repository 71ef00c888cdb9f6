import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Clock } from '../core/time/clock.js';
import { type LabelledValue, Metrics } from '../core/metrics/metrics.js';
import { type Backlog, WebhookDeliveries } from './webhook-deliveries.js';
import { DISABLED_BECAUSE } from './webhook-endpoint.entity.js';
import type { AttemptOutcome } from './webhook-sender.js';

const OUTCOMES: readonly AttemptOutcome['is'][] = ['delivered', 'failed', 'gone', 'cut'];

/** The metrics of webhooks: attempts of this process, and waiting deliveries in the database. */
@Injectable()
export class WebhookMetrics {
  private readonly attempts: Counter<'outcome'>;
  private reading: Promise<readonly Backlog[]> | undefined;

  constructor(
    metrics: Metrics,
    private readonly deliveries: WebhookDeliveries,
    private readonly clock: Clock,
  ) {
    this.attempts = metrics.counter(
      'petstore_webhook_attempts_total',
      'Attempts to send a message to an endpoint: delivered, failed, gone (410), and cut by a stop',
      ['outcome'],
    );
    // Start at 0, so that the first attempt shows as an increase.
    for (const outcome of OUTCOMES) this.attempts.inc({ outcome }, 0);
    metrics.gauge(
      'petstore_webhook_waiting_deliveries',
      'Deliveries that wait for failing and for healthy endpoints, without those of disabled endpoints and suspended clients',
      ['endpoints'],
      () => this.values(({ waiting }) => waiting),
    );
    metrics.gauge(
      'petstore_webhook_oldest_waiting_seconds',
      'Age of the oldest message that waits for a failing endpoint, and for a healthy one',
      ['endpoints'],
      () => this.values(({ oldest }) => Math.max(0, this.clock.now() - Date.parse(oldest)) / 1_000),
    );
    metrics.gauge(
      'petstore_webhook_disabled_endpoints',
      'Disabled endpoints: by their owner, by an operator, after three days of failures, or after a 410',
      ['because'],
      async () => {
        const disabled = await deliveries.disabled();
        return DISABLED_BECAUSE.map((because) => ({
          labels: { because },
          value: disabled.get(because) ?? 0,
        }));
      },
    );
  }

  /** Counts an attempt. */
  count(outcome: AttemptOutcome['is']): void {
    this.attempts.inc({ outcome });
  }

  private async values(valueOf: (backlog: Backlog) => number): Promise<LabelledValue<'endpoints'>[]> {
    const backlog = await this.backlog();
    return (['healthy', 'failing'] as const).map((endpoints) => {
      const found = backlog.find((one) => one.endpoints === endpoints);
      return { labels: { endpoints }, value: found ? valueOf(found) : 0 };
    });
  }

  /** Both gauges are collected at the same time, and share one query. */
  private backlog(): Promise<readonly Backlog[]> {
    return (this.reading ??= this.deliveries.backlog().finally(() => (this.reading = undefined)));
  }
}
