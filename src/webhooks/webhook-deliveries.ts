import { Injectable } from '@nestjs/common';
import { DataSource, type SelectQueryBuilder } from 'typeorm';
import { DataVersion } from '../database/data-version.js';
import { JsonReader } from '../database/database.js';
import { Sweeper } from '../database/sweeper.js';
import { WebhookDelivery } from './webhook-delivery.entity.js';
import { WebhookMessage } from './webhook-message.entity.js';
import { WebhookWake } from './webhook-wake.js';

const DAY_MS = 86_400_000;

/** An endpoint for which something waits. */
export interface WaitingEndpoint {
  readonly id: string;
  /** How often its first waiting message has failed. */
  readonly failures: number;
  /** When that may be sent, in ms since the Unix epoch; 0 while it was never tried. */
  readonly dueAt: number;
  /** How long after its last failure that is, in milliseconds. */
  readonly delay: number;
}

/** What waits for the endpoints of one kind. */
export interface Backlog {
  readonly endpoints: 'healthy' | 'failing';
  readonly waiting: number;
  /** When the oldest message was written, ISO 8601 text in UTC. */
  readonly oldest: string;
}

const ANY_WAITING = `SELECT 1 AS found FROM webhook_deliveries WHERE state = 'waiting' LIMIT 1`;

/** Goes from endpoint to endpoint in the index of what waits, so that its cost is of the endpoints and not of the deliveries. */
const WAITING_ENDPOINTS = `
  WITH RECURSIVE waiting(id) AS (
    SELECT MIN(endpoint_id) FROM webhook_deliveries WHERE state = 'waiting'
    UNION ALL
    SELECT (SELECT MIN(endpoint_id) FROM webhook_deliveries WHERE state = 'waiting' AND endpoint_id > waiting.id)
    FROM waiting WHERE waiting.id IS NOT NULL
  )
  SELECT webhook_endpoints.id AS "id", failures AS "failures", delay AS "delay", CAST(due_at AS TEXT) AS "dueAt"
  FROM waiting
  JOIN webhook_endpoints ON webhook_endpoints.id = waiting.id
  JOIN clients ON clients.id = webhook_endpoints.client_id
  WHERE webhook_endpoints.disabled_at IS NULL AND clients.suspended_at IS NULL`;

/** Reads what waits for the endpoints; messages are deleted after WEBHOOK_RETENTION_DAYS, their deliveries with them. */
@Injectable()
export class WebhookDeliveries {
  /** When nothing waited: by the data version, and by how often this process had rung. */
  private empty: { readonly version: number; readonly rings: number } | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly reader: JsonReader,
    private readonly dataVersion: DataVersion,
    private readonly wake: WebhookWake,
    sweeper: Sweeper,
  ) {
    sweeper.add({
      entity: WebhookMessage,
      where: 'created_at < :oldest',
      parameters: (now, { webhookRetentionDays }) => ({
        oldest: new Date(now - webhookRetentionDays * DAY_MS).toISOString(),
      }),
    });
  }

  /**
   * Whether anything waits, for whichever endpoint: one look into an index, and none while nothing was committed since nothing
   * waited. Commits of this process that change no cached answer do not count there, but they ring.
   */
  async isAnyWaiting(): Promise<boolean> {
    // Ask before reading: a commit in between must count.
    const version = this.dataVersion.isComplete ? this.dataVersion.current('responses') : undefined;
    const { rings } = this.wake;
    if (version !== undefined && this.empty?.version === version && this.empty.rings === rings) return false;
    const isAny = (await this.reader.first(ANY_WAITING, [])) !== undefined;
    this.empty = isAny || version === undefined ? undefined : { version, rings };
    return isAny;
  }

  /** The endpoints for which something waits, except those that are disabled or whose client is suspended. */
  async waitingEndpoints(): Promise<WaitingEndpoint[]> {
    const rows =
      await this.dataSource.query<(Omit<WaitingEndpoint, 'dueAt'> & { dueAt: string })[]>(WAITING_ENDPOINTS);
    return rows.map(({ dueAt, ...row }) => ({ ...row, dueAt: Number(dueAt) }));
  }

  /** The first delivery that waits for an endpoint, with its message and the endpoint as they are now; null when there is none. */
  first(endpointId: string): Promise<WebhookDelivery | null> {
    return this.firstOf(endpointId).getOne();
  }

  /** The query of `first`. */
  firstOf(endpointId: string): SelectQueryBuilder<WebhookDelivery> {
    return this.dataSource.manager
      .createQueryBuilder(WebhookDelivery, 'delivery')
      .innerJoinAndSelect('delivery.endpoint', 'endpoint')
      .innerJoinAndSelect('delivery.message', 'message')
      .innerJoin('endpoint.client', 'client')
      .where(`delivery.endpoint_id = :endpointId AND delivery.state = 'waiting'`, { endpointId })
      .andWhere('endpoint.disabled_at IS NULL AND client.suspended_at IS NULL')
      .orderBy('delivery.id')
      .limit(1);
  }

  /** What waits for endpoints that get messages: for those that fail, and for the others. */
  async backlog(): Promise<Backlog[]> {
    const rows = await this.dataSource.query<(Omit<Backlog, 'waiting'> & { waiting: number | string })[]>(
      `SELECT CASE WHEN failures = 0 THEN 'healthy' ELSE 'failing' END AS "endpoints",
         COUNT(*) AS "waiting", MIN(webhook_messages.created_at) AS "oldest"
       FROM webhook_deliveries
       JOIN webhook_messages ON webhook_messages.id = webhook_deliveries.message_id
       JOIN webhook_endpoints ON webhook_endpoints.id = webhook_deliveries.endpoint_id
       JOIN clients ON clients.id = webhook_endpoints.client_id
       WHERE state = 'waiting' AND disabled_at IS NULL AND suspended_at IS NULL GROUP BY 1`,
    );
    return rows.map((row) => ({ ...row, waiting: Number(row.waiting) }));
  }

  /** How many endpoints get no messages, by why. */
  async disabled(): Promise<{ readonly because: string; readonly endpoints: number }[]> {
    const rows = await this.dataSource.query<{ because: string; endpoints: number | string }[]>(
      `SELECT disabled_because AS "because", COUNT(*) AS "endpoints" FROM webhook_endpoints
       WHERE disabled_at IS NOT NULL GROUP BY disabled_because`,
    );
    return rows.map(({ because, endpoints }) => ({ because, endpoints: Number(endpoints) }));
  }
}
