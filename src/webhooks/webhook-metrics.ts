import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { DataSource } from 'typeorm';
import { Clock } from '../core/time/clock.js';
import { Metrics } from '../core/metrics/metrics.js';
import type { LabeledValue } from '../core/metrics/tally.js';
import { ofWaitingEndpoints } from './due-deliveries.js';
import { DISABLED_BECAUSE } from './webhook-endpoint.entity.js';
import type { AttemptOutcome } from './webhook-sender.js';

const OUTCOMES: readonly AttemptOutcome['is'][] = ['delivered', 'failed', 'gone', 'cut'];
const ENDPOINTS = ['healthy', 'failing'];

/** Maximum number of waiting deliveries counted per endpoint, because an endpoint that is down can have any number of them. */
const MAX_COUNTED = 10_000;

const WAITING = `FROM webhook_deliveries WHERE state = 'waiting' AND endpoint_id = webhook_endpoints.id`;
const FIRST = `SELECT message_id ${WAITING} ORDER BY webhook_deliveries.id LIMIT 1`;

/** Counts the deliveries that wait for failing endpoints and for all others, including messages without deliveries. */
export const BACKLOG = `
  SELECT CASE WHEN failures = 0 THEN 'healthy' ELSE 'failing' END AS "endpoints",
    SUM(waiting) AS "waiting", MIN(oldest) AS "oldest"
  FROM (
    SELECT * FROM (${ofWaitingEndpoints(`failures,
      (SELECT COUNT(*) FROM (SELECT 1 ${WAITING} LIMIT ${MAX_COUNTED}) AS counted) AS waiting,
      (SELECT created_at FROM webhook_messages WHERE id = (${FIRST})) AS oldest`)}) AS endpoints
    UNION ALL
    SELECT 0, 1, webhook_messages.created_at
    FROM webhook_fan_outs
    JOIN webhook_messages ON webhook_messages.id = webhook_fan_outs.message_id
  ) AS backlog GROUP BY 1`;

/** A row of BACKLOG; on PostgreSQL the count is text. `oldest` is ISO 8601 text in UTC. */
interface Backlog {
  readonly endpoints: string;
  readonly waiting: number | string;
  readonly oldest: string;
}

const DISABLED = `SELECT disabled_because AS "because", COUNT(*) AS "endpoints" FROM webhook_endpoints
  WHERE disabled_at IS NOT NULL GROUP BY disabled_because`;

/** Metrics of webhooks: attempts by this process, and waiting deliveries in the database. */
@Injectable()
export class WebhookMetrics {
  private readonly attempts: Counter<'outcome'>;
  private reading: Promise<readonly Backlog[]> | undefined;

  constructor(
    metrics: Metrics,
    private readonly dataSource: DataSource,
    clock: Clock,
  ) {
    this.attempts = metrics.counter(
      'petstore_webhook_attempts_total',
      'Attempts to send a message to an endpoint: delivered, failed, gone (410), and cut when the service stopped.',
      ['outcome'],
    );
    // Start at 0, so that the first attempt is visible as an increase.
    for (const outcome of OUTCOMES) this.attempts.inc({ outcome }, 0);
    metrics.gauge(
      'petstore_webhook_waiting_deliveries',
      `Deliveries that wait for failing and for healthy endpoints, at most ${MAX_COUNTED} per endpoint, excluding disabled endpoints and suspended clients.`,
      ['endpoints'],
      () => this.values(({ waiting }) => Number(waiting)),
    );
    metrics.gauge(
      'petstore_webhook_oldest_waiting_seconds',
      'Age of the oldest message that waits for a failing endpoint, and for a healthy one, in seconds.',
      ['endpoints'],
      () => this.values(({ oldest }) => Math.max(0, clock.now() - Date.parse(oldest)) / 1_000),
    );
    metrics.gauge(
      'petstore_webhook_disabled_endpoints',
      'Endpoints that were disabled by their owner, by an operator, after three days of failures, or after a 410.',
      ['because'],
      async () => {
        const rows = await dataSource.query<{ because: string; endpoints: number | string }[]>(DISABLED);
        const found = rows.map(({ because, endpoints }) => ({
          labels: { because },
          value: Number(endpoints),
        }));
        return [...DISABLED_BECAUSE.map((because) => ({ labels: { because }, value: 0 })), ...found];
      },
    );
  }

  count(outcome: AttemptOutcome['is']): void {
    this.attempts.inc({ outcome });
  }

  /** Both gauges are read at the same time and share a query. They are 0 if nothing waits. */
  private async values(valueOf: (backlog: Backlog) => number): Promise<LabeledValue<'endpoints'>[]> {
    const rows = await (this.reading ??= this.dataSource
      .query<Backlog[]>(BACKLOG)
      .finally(() => (this.reading = undefined)));
    const none = ENDPOINTS.map((endpoints) => ({ labels: { endpoints }, value: 0 }));
    return [...none, ...rows.map((row) => ({ labels: { endpoints: row.endpoints }, value: valueOf(row) }))];
  }
}
