import { Injectable, Logger } from '@nestjs/common';
import { DataSource, type EntityManager, IsNull } from 'typeorm';
import { SERVICE_ITSELF } from '../auth/clients/audited-changes.js';
import { AuditService } from '../auth/audit/audit.service.js';
import { Clock, isoOf } from '../core/time/clock.js';
import { Transactions } from '../database/transactions/transactions.js';
import { OneAtATime } from '../database/one-at-a-time.js';
import { runForRows } from '../database/rows-as-json.js';
import { webhookRetryDelay } from './retry-schedule.js';
import type { FirstDelivery } from './due-deliveries.js';
import { type DeliveryState, MAX_STORED_ATTEMPTS, type StoredAttempt } from './webhook-delivery.entity.js';
import { type DisabledBecause, WebhookEndpoint } from './webhook-endpoint.entity.js';
import { WebhookFanOuts } from './webhook-fan-outs.js';
import { WebhookMessages } from './webhook-messages.js';
import { WEBHOOK_ENDPOINT_DISABLED } from './webhooks.events.js';
import type { AttemptOutcome } from './webhook-sender.js';

/** Maximum number of attempts per transaction. */
const BATCH = 100;

interface FinishedAttempt {
  readonly delivery: FirstDelivery;
  readonly outcome: AttemptOutcome;
  readonly at: number;
  /** Time until the next attempt, in milliseconds; undefined if there is none. */
  readonly delay: number | undefined;
}

/**
 * Records failures, unless the endpoint was changed or a retry was requested since the attempt. A delivery always resets the failures of
 * its URL.
 */
const RECORD_ENDPOINTS = (rows: string): string => `
  UPDATE webhook_endpoints
  SET failures = CAST(value ->> 'failures' AS INTEGER), failing_since = value ->> 'failingSince',
    last_error = value ->> 'lastError', due_at = CAST(value ->> 'dueAt' AS BIGINT), delay = CAST(value ->> 'delay' AS INTEGER)
  FROM ${rows} AS recorded
  WHERE webhook_endpoints.id = value ->> 'endpointId' AND webhook_endpoints.url = value ->> 'url'
    AND (webhook_endpoints.failures = CAST(value ->> 'failuresBefore' AS INTEGER) OR CAST(value ->> 'failures' AS INTEGER) = 0)`;

/** Only waiting deliveries; written as NOT IN, because SQLite would otherwise scan the index of all waiting ones. */
const RECORD_DELIVERIES = (rows: string): string => `
  UPDATE webhook_deliveries
  SET state = value ->> 'state', attempts = CAST(value ->> 'attempts' AS INTEGER), attempted_at = value ->> 'attemptedAt',
    status = CAST(value ->> 'status' AS INTEGER), error = value ->> 'error',
    attempt_log = value ->> 'attemptLog'
  FROM ${rows} AS recorded
  WHERE webhook_deliveries.id = CAST(value ->> 'id' AS BIGINT) AND webhook_deliveries.state NOT IN ('delivered', 'failed')`;

/** Records results of attempts: successful deliveries, the time of the next attempt, and endpoints to disable. */
@Injectable()
export class WebhookSettlements {
  private readonly logger = new Logger('Webhooks');
  private readonly recordings = new OneAtATime(() => this.recordAll());
  private readonly toRecord: FinishedAttempt[] = [];

  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly fanOuts: WebhookFanOuts,
    private readonly messages: WebhookMessages,
    private readonly audit: AuditService,
    private readonly clock: Clock,
  ) {}

  /** Keeps the result of an attempt until it is recorded; otherwise its message would be sent again. */
  add(delivery: FirstDelivery, outcome: AttemptOutcome): void {
    if (outcome.is === 'cut') return;
    const delay = webhookRetryDelay(delivery.failures + 1, outcome.retryAfter);
    this.toRecord.push({ delivery, outcome, at: this.clock.now(), delay });
  }

  /** Records ended attempts, many in one commit. If the database rejects, this rejects, and unrecorded attempts are kept. */
  record(): Promise<void> {
    return this.recordings.run();
  }

  private async recordAll(): Promise<void> {
    while (this.toRecord.length > 0) {
      const batch = this.toRecord.slice(0, BATCH);
      const others = batch.filter((one) => !disablesBecause(one));
      if (others.length > 0) await this.transactions.uncached((manager) => recordIn(manager, others));
      // If this fails, the others are recorded a second time, which changes nothing.
      for (const one of batch) {
        const because = disablesBecause(one);
        if (because) await this.disable(one, because);
      }
      this.toRecord.splice(0, batch.length);
    }
  }

  /** Marks the delivery as failed and disables the endpoint; the client's other endpoints get a message about it. */
  private async disable(finished: FinishedAttempt, because: DisabledBecause): Promise<void> {
    const disabledAt = isoOf(finished.at);
    const { endpointId: id, clientId, url, label, failures } = finished.delivery;
    const lastError = finished.outcome.error;
    await this.fanOuts.catchUp();
    const isDisabled = await this.dataSource.transaction(async (manager) => {
      await this.fanOuts.beforeChange(manager);
      // The result is outdated if the owner has changed its address or enabled it again.
      const { affected } = await manager.update(
        WebhookEndpoint,
        { id, url, failures, disabledAt: IsNull() },
        { disabledAt, disabledBecause: because, lastError, failures: 0, dueAt: 0n },
      );
      const state = affected === 0 ? 'waiting' : 'failed';
      await runForRows(manager, [deliveryAfter(finished, state)], RECORD_DELIVERIES);
      if (affected === 0) return false;
      const details = { endpointId: id, because };
      await this.audit.record(manager, SERVICE_ITSELF, {
        action: 'webhook_endpoint.disabled',
        clientId,
        details,
      });
      await this.messages.send(
        WEBHOOK_ENDPOINT_DISABLED,
        { id, url, label, because, disabledAt },
        { clientId },
      );
      return true;
    });
    if (isDisabled)
      this.logger.warn(
        `Endpoint ${id} of client ${clientId} no longer receives webhooks: ` +
          (because === 'gone'
            ? 'it responded with 410'
            : `it failed for three days. ${finished.outcome.error ?? ''}`),
      );
  }
}

/** Endpoints first, because a deletion locks an endpoint before its deliveries. */
async function recordIn(manager: EntityManager, finished: readonly FinishedAttempt[]): Promise<void> {
  const changed = finished.filter(
    ({ delivery, outcome }) => outcome.is !== 'delivered' || delivery.failures > 0,
  );
  await runForRows(manager, changed.map(endpointAfter), RECORD_ENDPOINTS);
  const deliveries = finished.map((one) =>
    deliveryAfter(one, one.outcome.is === 'delivered' ? 'delivered' : 'waiting'),
  );
  await runForRows(manager, deliveries, RECORD_DELIVERIES);
}

function endpointAfter({ delivery, outcome, at, delay = 0 }: FinishedAttempt): object {
  const { endpointId, url, failures: failuresBefore, failingSince } = delivery;
  const hasRecovered = { failures: 0, failingSince: null, lastError: null, dueAt: 0, delay: 0 };
  const failed = {
    failures: failuresBefore + 1,
    failingSince: failingSince ?? isoOf(at),
    lastError: outcome.error,
    dueAt: at + delay,
    delay,
  };
  return { endpointId, url, failuresBefore, ...(outcome.is === 'delivered' ? hasRecovered : failed) };
}

function deliveryAfter({ delivery, outcome, at }: FinishedAttempt, state: DeliveryState): object {
  const { id, attempts, attemptLog } = delivery;
  const { status, error, durationMs, response, isPublic } = outcome;
  const attemptedAt = isoOf(at);
  const attempt: StoredAttempt = { at: attemptedAt, status, error, durationMs, response, isPublic };
  const log = [...attemptLog, attempt].slice(-MAX_STORED_ATTEMPTS);
  return { id, state, attempts: attempts + 1, attemptedAt, status, error, attemptLog: JSON.stringify(log) };
}

/** Why an endpoint is disabled after an attempt; undefined if it is not. */
function disablesBecause({ outcome, delay }: FinishedAttempt): DisabledBecause | undefined {
  if (outcome.is === 'gone') return 'gone';
  return outcome.is === 'failed' && delay === undefined ? 'failing' : undefined;
}
