import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Operator } from '../../auth/clients/audited-changes.js';
import { AuditService, differences } from '../../auth/audit/audit.service.js';
import type { WebhookEndpoint } from '../webhook-endpoint.entity.js';
import { originOf } from './endpoint-url.js';
import type { EndpointChanges } from './endpoint-orders.js';
import type { SubscribedEndpoint } from './subscribed-endpoint.js';

/** Writes what happens to webhook endpoints into the audit trail: of an address its origin alone, and never a secret. */
@Injectable()
export class EndpointTrail {
  constructor(private readonly audit: AuditService) {}

  /** Records what was done to an endpoint, in the transaction that did it. */
  record(
    manager: EntityManager,
    by: Operator,
    done: 'created' | 'updated' | 'deleted' | 'secret_rotated' | 'enabled' | 'disabled',
    { id, clientId }: WebhookEndpoint,
    details: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const change = { action: `webhook_endpoint.${done}`, clientId, details: { endpointId: id, ...details } };
    return this.audit.record(manager, by, change);
  }
}

/** What the audit trail shows of changes; empty when nothing changes. `events` are those that the endpoint is told of afterwards. */
export function changesShown(
  { endpoint, events: before }: SubscribedEndpoint,
  { url, label }: EndpointChanges,
  events: readonly string[],
): Record<string, unknown> {
  const changed = differences(
    { label: endpoint.label, events: before.join(', ') },
    { ...(label === undefined ? {} : { label }), events: events.join(', ') },
  );
  if (url === undefined || url === endpoint.url) return changed;
  // Both origins, also where they are the same and only the path was changed.
  return { ...changed, url: { from: originOf(endpoint.url), to: originOf(url) } };
}
