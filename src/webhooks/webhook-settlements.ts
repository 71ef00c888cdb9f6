import { Injectable, Logger } from '@nestjs/common';
import { DataSource, type EntityManager, IsNull } from 'typeorm';
import { SERVICE_ITSELF } from '../auth/clients/audited-changes.js';
import { AuditService } from '../auth/audit/audit.service.js';
import { Clock } from '../core/time/clock.js';
import { CacheNeutralWrites } from '../database/cache-neutral-writes.js';
import { OneAtATime } from '../database/one-at-a-time.js';
import { Transactions } from '../database/transactions.js';
import { webhookRetryDelay } from './retry-schedule.js';
import { WebhookDelivery } from './webhook-delivery.entity.js';
import { type DisabledBecause, WebhookEndpoint } from './webhook-endpoint.entity.js';
import { WebhookMessages } from './webhook-messages.js';
import { WEBHOOK_ENDPOINT_DISABLED } from './webhooks.events.js';
import type { AttemptOutcome } from './webhook-sender.js';

/** Attempts that one transaction notes. */
const BATCH = 100;

interface Waiting {
  readonly note: (manager: EntityManager) => Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Notes how attempts ended: what was delivered, what is tried again and when, and which endpoints get no messages any more. */
@Injectable()
export class WebhookSettlements {
  private readonly logger = new Logger('Webhooks');
  private readonly commits = new OneAtATime(() => this.commit());
  private waiting: Waiting[] = [];

  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly writes: CacheNeutralWrites,
    private readonly messages: WebhookMessages,
    private readonly audit: AuditService,
    private readonly clock: Clock,
  ) {}

  /** Notes how an attempt of a delivery ended, together with those of others. Rejects when the database does. */
  async settle(delivery: WebhookDelivery, outcome: AttemptOutcome): Promise<void> {
    if (outcome.is === 'cut') return;
    const { failures } = delivery.endpoint;
    const delay = webhookRetryDelay(failures + 1, { retryAfter: outcome.retryAfter });
    if (outcome.is === 'gone') return this.disable(delivery, outcome, 'gone');
    if (outcome.is === 'failed' && delay === undefined) return this.disable(delivery, outcome, 'failing');
    const at = this.clock.now();
    await this.together(async (manager) => {
      const state = outcome.is === 'delivered' ? 'delivered' : 'waiting';
      await this.note(manager, delivery, { ...outcome, state, at });
      if (outcome.is === 'delivered') await this.heal(manager, delivery.endpoint);
      else await this.postpone(manager, delivery.endpoint, at, delay ?? 0);
    });
  }

  private together(note: Waiting['note']): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ note, resolve, reject });
      void this.commits.run();
    });
  }

  private async commit(): Promise<void> {
    const batch = this.waiting.splice(0, BATCH);
    if (batch.length === 0) return;
    try {
      await this.writes.run(async (manager) => {
        for (const { note } of batch) await note(manager);
      });
      for (const { resolve } of batch) resolve();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    if (this.waiting.length > 0) void this.commits.run();
  }

  private async note(
    manager: EntityManager,
    { id, attempts }: WebhookDelivery,
    { state, status, error, at }: Pick<WebhookDelivery, 'state' | 'status' | 'error'> & { at: number },
  ): Promise<void> {
    const attemptedAt = new Date(at).toISOString();
    await manager.update(
      WebhookDelivery,
      { id, state: 'waiting' },
      { state, attempts: attempts + 1, attemptedAt, status, error },
    );
  }

  private async heal(manager: EntityManager, { id, failures, dueAt }: WebhookEndpoint): Promise<void> {
    if (failures === 0 && dueAt === 0n) return;
    await manager.update(WebhookEndpoint, { id }, { failures: 0, failingSince: null, dueAt: 0n });
  }

  /** Unless its owner has changed meanwhile what its failures count from. */
  private async postpone(
    manager: EntityManager,
    { id, failures, failingSince }: WebhookEndpoint,
    at: number,
    delay: number,
  ): Promise<void> {
    await manager.update(
      WebhookEndpoint,
      { id, failures },
      {
        failures: failures + 1,
        failingSince: failingSince ?? new Date(at).toISOString(),
        dueAt: BigInt(at + delay),
        delay,
      },
    );
  }

  /** Gives the delivery up, and has the endpoint get no messages any more; the client's other endpoints are told. */
  private async disable(
    delivery: WebhookDelivery,
    outcome: AttemptOutcome,
    because: DisabledBecause,
  ): Promise<void> {
    const at = this.clock.now();
    const disabledAt = new Date(at).toISOString();
    const { id, clientId, url, label, failures } = delivery.endpoint;
    const isDisabled = await this.dataSource.transaction((manager) =>
      this.transactions.insideOf(manager, async () => {
        // Its owner may have named another address meanwhile, or enabled it anew: the answer says nothing of that.
        const { affected } = await manager.update(
          WebhookEndpoint,
          { id, url, failures, disabledAt: IsNull() },
          { disabledAt, disabledBecause: because, failures: 0, dueAt: 0n },
        );
        const state = affected === 0 ? 'waiting' : 'failed';
        await this.note(manager, delivery, { ...outcome, state, at });
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
      }),
    );
    if (isDisabled)
      this.logger.warn(
        `Endpoint ${id} of client ${clientId} gets no webhooks any more: ` +
          (because === 'gone' ? 'it answered 410' : `it failed for three days. ${outcome.error ?? ''}`),
      );
  }
}
