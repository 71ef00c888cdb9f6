import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, In } from 'typeorm';
import type { Database } from '../database/database.js';
import type { Dialect } from '../database/dialect.js';
import { runForRows } from '../database/rows-as-json.js';
import { Transactions } from '../database/transactions/transactions.js';
import { WebhookFanOut } from './webhook-message.entity.js';

/** Maximum number of messages per transaction, and the duration above which the next one takes fewer, in milliseconds. */
const MAX_BATCH = 100;
const SHORT_MS = 20;
/** While others use the database, the pause after a transaction as a multiple of its duration, and the maximum pause. */
const PAUSE_RATIO = 9;
const MAX_PAUSE_MS = 500;

/**
 * Inserts deliveries for each enabled endpoint that subscribes to a message's event. A deletion locks a client before its endpoints, so the
 * lock on the client protects both.
 */
const DELIVERIES = (rows: string, dialect: Dialect): string => `
  INSERT INTO webhook_deliveries (endpoint_id, message_id, state, attempts)
  SELECT webhook_endpoints.id, webhook_messages.id, 'waiting', 0
  FROM webhook_fan_outs
  JOIN webhook_messages ON webhook_messages.id = webhook_fan_outs.message_id
  JOIN webhook_subscriptions ON webhook_subscriptions.event = webhook_messages.event
  JOIN webhook_endpoints ON webhook_endpoints.id = webhook_subscriptions.endpoint_id
  JOIN clients ON clients.id = webhook_endpoints.client_id
  WHERE webhook_fan_outs.id IN (SELECT CAST(value ->> 'id' AS BIGINT) FROM ${rows} AS batch)
    AND webhook_endpoints.disabled_at IS NULL
    AND (webhook_fan_outs.client_id IS NULL OR webhook_fan_outs.client_id = webhook_endpoints.client_id)
  ORDER BY webhook_fan_outs.id, webhook_endpoints.id ${dialect.lockRows('clients')}`;

/** Creates the deliveries of messages after their commit, so that no request waits for them, however many subscribers there are. */
@Injectable()
export class WebhookFanOuts {
  private batch = 1;
  /** Duration of the last transaction, in milliseconds. */
  private tookMs = 0;

  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
  ) {}

  /** Whether messages have no deliveries yet. */
  isDue(): Promise<boolean> {
    return this.dataSource.manager.exists(WebhookFanOut);
  }

  /** Fans out the oldest messages without deliveries, then pauses if others use the database. */
  async run(): Promise<void> {
    await this.transactions.uncached((manager) => this.fanOut(manager));
    const { inUse, waiting } = (this.dataSource as Database).load;
    if (inUse + waiting > 0) await pause(Math.min(PAUSE_RATIO * this.tookMs, MAX_PAUSE_MS));
  }

  /**
   * Fans out committed messages in short transactions, so that little is left to `beforeChange`, which blocks other writers. Does nothing
   * within a transaction.
   */
  async catchUp(): Promise<void> {
    if (this.transactions.isInside()) return;
    while (await this.transactions.uncached((manager) => this.fanOut(manager)));
  }

  /**
   * In the caller's transaction, fans out all messages that were committed before the caller changes endpoints, so that they go to the
   * endpoints that existed when they were written, whatever the clock says. Call it before the transaction locks a row.
   */
  async beforeChange(manager: EntityManager): Promise<void> {
    while (await this.fanOut(manager));
  }

  /** Returns whether there may be more. */
  private async fanOut(manager: EntityManager): Promise<boolean> {
    await this.transactions.lock('webhook fan-outs');
    const startedAt = performance.now();
    const lockBatch = this.batch;
    const fanOuts = await manager.find(WebhookFanOut, { order: { id: 'ASC' }, take: lockBatch });
    if (fanOuts.length === 0) return false;
    await runForRows(
      manager,
      fanOuts.map(({ id }) => ({ id: String(id) })),
      DELIVERIES,
    );
    await manager.delete(WebhookFanOut, { id: In(fanOuts.map(({ id }) => id)) });
    this.tookMs = performance.now() - startedAt;
    this.batch = this.tookMs < SHORT_MS ? Math.min(MAX_BATCH, 2 * lockBatch) : Math.ceil(lockBatch / 2);
    return fanOuts.length === lockBatch;
  }
}
