import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService } from '../../auth/audit/audit.service.js';
import { AuditedChanges, type Requester } from '../../auth/clients/audited-changes.js';
import { KeyLimits } from '../../auth/clients/key-limits.js';
import type { WebhookEndpoint } from '../webhook-endpoint.entity.js';
import { WebhookFanOuts } from '../webhook-fan-outs.js';

/** Runs changes of webhook endpoints, each in one transaction with its audit entry. */
@Injectable()
export class EndpointChanges {
  constructor(
    private readonly changes: AuditedChanges,
    private readonly limits: KeyLimits,
    private readonly fanOuts: WebhookFanOuts,
    private readonly audit: AuditService,
  ) {}

  /**
   * Makes a change after the deliveries of all previously committed messages were created. Throws key_change_limit_reached for a client
   * that has itself made too many changes, unless the change is `unlimited`.
   */
  async run<T>(
    by: Requester,
    work: (manager: EntityManager) => Promise<T>,
    number: 'limited' | 'unlimited' = 'limited',
  ): Promise<T> {
    // Outside of the transaction that counts the changes.
    await this.fanOuts.catchUp();
    return this.limits.whileChanging(number === 'limited' ? by.clientId : undefined, () =>
      this.changes.run(by, async (manager) => {
        await this.fanOuts.beforeChange(manager);
        return work(manager);
      }),
    );
  }

  /** Records a change of an endpoint in the audit trail, in its transaction: only the origin of its URL, and never a secret. */
  record(
    manager: EntityManager,
    by: Requester,
    done: 'created' | 'updated' | 'deleted' | 'secret_rotated' | 'enabled' | 'disabled',
    { id, clientId }: WebhookEndpoint,
    details: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const change = { action: `webhook_endpoint.${done}`, clientId, details: { endpointId: id, ...details } };
    return this.audit.record(manager, by, change);
  }
}
