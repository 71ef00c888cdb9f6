import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CLOCKS_DIFFER_MS, Clock, isoOf } from '../core/time/clock.js';
import { DAY_MS } from '../core/time/duration.js';
import { JsonReader } from '../database/database.js';
import { Sweeper } from '../database/sweeper.js';
import type { WebhookEndpoint } from './webhook-endpoint.entity.js';
import type { StoredAttempt } from './webhook-delivery.entity.js';
import { WebhookMessage } from './webhook-message.entity.js';

/** The lease of the process that sends; its loop is woken by this name. */
export const WEBHOOKS_LEASE = 'webhooks';

/** An endpoint with a delivery that may be sent now. */
export interface DueEndpoint {
  readonly id: string;
  /** Consecutive failures of its first waiting message. */
  readonly failures: number;
}

/** The next delivery of an endpoint. */
export interface FirstDelivery extends Pick<
  WebhookEndpoint,
  'clientId' | 'url' | 'label' | 'secret' | 'previousSecrets' | 'failures' | 'failingSince'
> {
  readonly id: string;
  readonly attempts: number;
  readonly attemptLog: readonly StoredAttempt[];
  readonly messageId: string;
  readonly payload: string;
  readonly endpointId: string;
  /** Whether another delivery waits after it; a number on SQLite. */
  readonly isMore: boolean | number;
}

/**
 * Selects from the enabled endpoints with waiting deliveries by skipping from one to the next in their index, so that the cost depends on
 * the number of endpoints, not of deliveries.
 */
export const ofWaitingEndpoints = (columns: string): string => `
  WITH RECURSIVE waiting(id) AS (
    SELECT MIN(endpoint_id) FROM webhook_deliveries WHERE state = 'waiting'
    UNION ALL
    SELECT (SELECT MIN(endpoint_id) FROM webhook_deliveries WHERE state = 'waiting' AND endpoint_id > waiting.id)
    FROM waiting WHERE waiting.id IS NOT NULL
  )
  SELECT ${columns}
  FROM waiting
  JOIN webhook_endpoints ON webhook_endpoints.id = waiting.id
  JOIN clients ON clients.id = webhook_endpoints.client_id
  WHERE webhook_endpoints.disabled_at IS NULL AND clients.suspended_at IS NULL`;

export const WAITING_ENDPOINTS = ofWaitingEndpoints(
  'webhook_endpoints.id AS "id", failures AS "failures", delay AS "delay", CAST(due_at AS TEXT) AS "dueAt"',
);

/** The first waiting delivery of the endpoint `?1`. */
export const FIRST = `
  SELECT CAST(webhook_deliveries.id AS TEXT) AS "id", attempts AS "attempts",
    attempt_log AS "attemptLog", message_id AS "messageId", payload AS "payload",
    endpoint_id AS "endpointId", client_id AS "clientId", url AS "url", label AS "label", secret AS "secret",
    previous_secrets AS "previousSecrets", failures AS "failures", failing_since AS "failingSince",
    EXISTS (
      SELECT 1 FROM webhook_deliveries AS later
      WHERE later.endpoint_id = webhook_deliveries.endpoint_id AND later.state = 'waiting' AND later.id > webhook_deliveries.id
    ) AS "isMore"
  FROM webhook_deliveries
  JOIN webhook_messages ON webhook_messages.id = webhook_deliveries.message_id
  JOIN webhook_endpoints ON webhook_endpoints.id = webhook_deliveries.endpoint_id
  JOIN clients ON clients.id = webhook_endpoints.client_id
  WHERE endpoint_id = ?1 AND state = 'waiting' AND disabled_at IS NULL AND suspended_at IS NULL
  ORDER BY webhook_deliveries.id LIMIT 1`;

/** Reads waiting messages and deliveries. Messages and their deliveries are deleted after WEBHOOK_RETENTION_DAYS. */
@Injectable()
export class DueDeliveries {
  constructor(
    private readonly dataSource: DataSource,
    private readonly reader: JsonReader,
    private readonly clock: Clock,
    sweeper: Sweeper,
  ) {
    sweeper.add({
      entity: WebhookMessage,
      where: 'created_at < :oldest',
      parameters: (now, { webhookRetentionDays }) => ({
        oldest: isoOf(now - webhookRetentionDays * DAY_MS),
      }),
    });
  }

  /**
   * The endpoints with a delivery that is due, except disabled ones and those of suspended clients. An endpoint whose next attempt is
   * further in the future than its delay counts as due, because the clock must have been set back since the last attempt.
   */
  async dueEndpoints(): Promise<DueEndpoint[]> {
    const rows =
      await this.dataSource.query<(DueEndpoint & { readonly dueAt: string; readonly delay: number })[]>(
        WAITING_ENDPOINTS,
      );
    const now = this.clock.now();
    return rows.filter(
      ({ dueAt, delay }) => Number(dueAt) <= now || Number(dueAt) > now + delay + CLOCKS_DIFFER_MS,
    );
  }

  /**
   * The first waiting delivery of an endpoint, with the current message and endpoint; undefined if none waits, the endpoint is disabled or
   * its client is suspended.
   */
  async first(endpointId: string): Promise<FirstDelivery | undefined> {
    const row = await this.reader.first(FIRST, [endpointId]);
    return (
      row && {
        ...(row as unknown as FirstDelivery),
        previousSecrets: JSON.parse(String(row.previousSecrets)),
        attemptLog: typeof row.attemptLog === 'string' ? JSON.parse(row.attemptLog) : [],
      }
    );
  }
}
