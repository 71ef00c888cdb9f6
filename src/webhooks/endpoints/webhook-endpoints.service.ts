import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import { AuditService, differences } from '../../auth/audit/audit.service.js';
import { AuditedChanges, type Operator } from '../../auth/clients/audited-changes.js';
import { ClientsService } from '../../auth/clients/clients.service.js';
import { requireChange } from '../../auth/clients/key-rules.js';
import { Clock } from '../../core/time/clock.js';
import { BY_CREATION, type Page, type PageRequest, keysetPage } from '../../database/keyset-page.js';
import { Transactions } from '../../database/transactions.js';
import { ApiError, type FaultDetail } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { WebhookAddresses } from '../webhook-addresses.js';
import { WebhookDeliveries } from '../webhook-deliveries.js';
import { WebhookDelivery } from '../webhook-delivery.entity.js';
import { type PreviousSecret, WebhookEndpoint } from '../webhook-endpoint.entity.js';
import { WebhookFanOuts } from '../webhook-fan-outs.js';
import { newWebhookSecret, signing } from '../webhook-signature.js';
import { eventsOf, subscribe, waitingEventsOf } from './endpoint-events.js';
import type {
  EndpointChanges,
  EndpointWithSecret,
  EndpointsOf,
  NewEndpoint,
  SubscribedEndpoint,
} from './endpoint-orders.js';
import { MOST_ENDPOINTS, MOST_PREVIOUS_SECRETS, eventFaults, requireEventScopes } from './endpoint-rules.js';
import { WEBHOOK_ERRORS } from './webhook-endpoints.errors.js';

/**
 * Creates, shows, changes and deletes webhook endpoints. Every change is committed in one transaction with its audit entry, which
 * holds of an address its origin alone, and never a secret.
 */
@Injectable()
export class WebhookEndpointsService {
  constructor(
    @InjectRepository(WebhookEndpoint) private readonly endpoints: Repository<WebhookEndpoint>,
    private readonly clients: ClientsService,
    private readonly changes: AuditedChanges,
    private readonly audit: AuditService,
    private readonly addresses: WebhookAddresses,
    private readonly fanOuts: WebhookFanOuts,
    private readonly deliveries: WebhookDeliveries,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /** A page of the endpoints of one client, or of all, oldest first. Throws client_not_found. */
  async list(page: PageRequest, { clientId }: EndpointsOf = {}): Promise<Page<SubscribedEndpoint>> {
    const query = this.endpoints.createQueryBuilder('endpoint');
    if (clientId !== undefined) {
      await this.clients.get(clientId);
      query.where('endpoint.clientId = :clientId', { clientId });
    }
    const { items, ...rest } = await keysetPage(query, page, BY_CREATION);
    const events = await eventsOf(items, this.endpoints.manager);
    return { ...rest, items: items.map((endpoint) => ({ endpoint, events: events.get(endpoint.id) ?? [] })) };
  }

  /** The endpoint with this id, read with the manager of a transaction if one is given. Throws webhook_endpoint_not_found. */
  async get(
    id: string,
    { clientId }: EndpointsOf = {},
    manager = this.endpoints.manager,
  ): Promise<SubscribedEndpoint> {
    const endpoint = await manager.findOneBy(WebhookEndpoint, { id });
    if (!endpoint || (clientId !== undefined && endpoint.clientId !== clientId))
      throw new ApiError(WEBHOOK_ERRORS.webhook_endpoint_not_found, { params: { id } });
    const events = await eventsOf([endpoint], manager);
    return { endpoint, events: events.get(id) ?? [] };
  }

  /** The number of waiting messages of an endpoint. */
  waiting(endpointId: string): Promise<number> {
    return this.endpoints.manager.countBy(WebhookDelivery, { endpointId, state: 'waiting' });
  }

  /**
   * Creates an endpoint. Throws client_not_found, webhook_endpoint_limit_reached, event_scope_not_held, and validation_failed for an
   * address or an event that cannot be.
   */
  async create(
    { clientId, url, events, label = null }: NewEndpoint,
    by: Operator,
  ): Promise<EndpointWithSecret> {
    refuseFaults([...this.urlFaults(url), ...eventFaults(events)]);
    requireEventScopes(events, by);
    const endpoint = this.endpoints.create({
      id: randomUUID(),
      clientId,
      url,
      label,
      secret: newWebhookSecret(),
      previousSecrets: [],
      createdAt: this.clock.instant(),
      disabledAt: null,
      disabledBecause: null,
      failures: 0,
      failingSince: null,
      dueAt: 0n,
      delay: 0,
    });
    const names = inOrder(events);
    await this.changeOfTold(by, async (manager) => {
      await this.clients.get(clientId, manager);
      if ((await manager.countBy(WebhookEndpoint, { clientId })) >= MOST_ENDPOINTS)
        throw new ApiError(WEBHOOK_ERRORS.webhook_endpoint_limit_reached, {
          params: { limit: MOST_ENDPOINTS },
        });
      await manager.insert(WebhookEndpoint, endpoint);
      await subscribe(endpoint.id, names, manager);
      await this.record(manager, by, 'created', endpoint, { url: originOf(url), events: names, label });
    });
    return { endpoint, events: names, secret: endpoint.secret };
  }

  /**
   * Changes an endpoint; does nothing when nothing changes. Enabled again, it continues with the message that it failed at.
   * A caller that names a client is the owner, others are operators. Throws webhook_endpoint_not_found, event_scope_not_held, webhook_endpoint_locked for an owner who
   * enables what an operator disabled, and validation_failed.
   */
  async update(
    id: string,
    changes: EndpointChanges,
    by: Operator,
    of: EndpointsOf = {},
  ): Promise<SubscribedEndpoint> {
    requireChange(changes, ['url', 'events', 'label', 'enabled']);
    const { url, events: wanted } = changes;
    const { endpoint: stored } = await this.get(id, of);
    refuseFaults([
      // One that was accepted in another form than the normal one may stay.
      ...(url === undefined || url === stored.url ? [] : this.urlFaults(url)),
      ...(wanted === undefined ? [] : eventFaults(wanted)),
    ]);
    return this.changeOfTold(by, async (manager) => {
      const before = await this.get(id, of, manager);
      const { endpoint } = before;
      const events = wanted === undefined ? before.events : inOrder(wanted);
      const isMoved = url !== undefined && url !== endpoint.url;
      // A new address receives all subscribed events and what waits; otherwise only newly subscribed events are disclosed.
      const handedOn = isMoved
        ? [...events, ...before.events, ...(await waitingEventsOf(id, manager))]
        : events.filter((name) => !before.events.includes(name));
      requireEventScopes(handedOn, by);
      const details = changesShown(before, changes, events);
      // A new address counts as a repair: waiting messages are sent there at once.
      if (isMoved) Object.assign(endpoint, { url, failures: 0, failingSince: null, dueAt: 0n });
      if (changes.label !== undefined) endpoint.label = changes.label;
      if (Object.keys(details).length > 0) {
        const { label, failures, failingSince, dueAt } = endpoint;
        const state = isMoved ? { url, failures, failingSince, dueAt } : {};
        await manager.update(WebhookEndpoint, { id }, { label, ...state });
        if (isMoved) this.transactions.afterCommit(() => this.deliveries.ring());
        if (wanted !== undefined) await subscribe(id, events, manager);
        await this.record(manager, by, 'updated', endpoint, details);
      }
      if (changes.enabled !== undefined)
        await this.turn(
          endpoint,
          changes.enabled,
          by,
          of.clientId === undefined ? 'operator' : 'owner',
          manager,
        );
      return { endpoint, events };
    });
  }

  /** Deletes an endpoint with its log and its waiting messages. Returns it as it was. Throws webhook_endpoint_not_found. */
  async delete(id: string, by: Operator, of: EndpointsOf = {}): Promise<SubscribedEndpoint> {
    await this.get(id, of);
    return this.changeOfTold(by, async (manager) => {
      const found = await this.get(id, of, manager);
      await manager.delete(WebhookEndpoint, { id });
      const { url, label } = found.endpoint;
      await this.record(manager, by, 'deleted', found.endpoint, { url: originOf(url), label });
      return found;
    });
  }

  /**
   * Gives an endpoint a new secret. Messages are also signed with the old one for `grace`, in milliseconds, and with those of
   * earlier rotations until their own ends; with 0 all old secrets end at once. Throws webhook_endpoint_not_found and
   * webhook_secret_limit_reached.
   */
  async rotateSecret(
    id: string,
    grace: number,
    by: Operator,
    of: EndpointsOf = {},
  ): Promise<EndpointWithSecret> {
    await this.get(id, of);
    return this.changes.run(by, async (manager) => {
      const { endpoint, events } = await this.get(id, of, manager);
      const until = grace === 0 ? null : this.clock.instant(grace);
      const previousSecrets = until === null ? [] : this.withPrevious(endpoint, until);
      const secret = newWebhookSecret();
      Object.assign(endpoint, { secret, previousSecrets });
      await manager.update(WebhookEndpoint, { id }, { secret, previousSecrets });
      await this.record(manager, by, 'secret_rotated', endpoint, { previousSecretUntil: until });
      return { endpoint, events, secret };
    });
  }

  /** Faults of an address. Its name is resolved and checked at each attempt. */
  private urlFaults(url: string): FaultDetail[] {
    const fault = this.addresses.faultOfUrl(url);
    return fault ? [{ field: 'url', ...fault }] : [];
  }

  /** Records a change of an endpoint in the audit trail, in its transaction. */
  private record(
    manager: EntityManager,
    by: Operator,
    done: 'created' | 'updated' | 'deleted' | 'secret_rotated' | 'enabled' | 'disabled',
    { id, clientId }: WebhookEndpoint,
    details: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const change = { action: `webhook_endpoint.${done}`, clientId, details: { endpointId: id, ...details } };
    return this.audit.record(manager, by, change);
  }

  /** Runs a change of endpoints or subscriptions, behind the deliveries of all messages that were committed before it. */
  private async changeOfTold<T>(by: Operator, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    await this.fanOuts.catchUp();
    return this.changes.run(by, async (manager) => {
      await this.fanOuts.beforeChange(manager);
      return work(manager);
    });
  }

  /** The secrets that sign besides the next one, when the present one does until an instant. */
  private withPrevious({ id, secret, previousSecrets }: WebhookEndpoint, until: string): PreviousSecret[] {
    const still = signing(previousSecrets, this.clock.now());
    if (still.length >= MOST_PREVIOUS_SECRETS)
      throw new ApiError(WEBHOOK_ERRORS.webhook_secret_limit_reached, {
        params: { id, limit: MOST_PREVIOUS_SECRETS },
      });
    return [...still, { secret, until }];
  }

  /** Enables or disables an endpoint, unless it already is. */
  private async turn(
    endpoint: WebhookEndpoint,
    enabled: boolean,
    by: Operator,
    as: 'owner' | 'operator',
    manager: EntityManager,
  ): Promise<void> {
    const { id, disabledAt, disabledBecause } = endpoint;
    // An operator who disables what its owner did keeps it disabled; anything else changes nothing.
    const isLocked = disabledBecause === 'operator';
    if (enabled ? disabledAt === null : disabledAt !== null && (as === 'owner' || isLocked)) return;
    if (enabled && isLocked && as === 'owner')
      throw new ApiError(WEBHOOK_ERRORS.webhook_endpoint_locked, { params: { id } });
    const state = enabled
      ? { disabledAt: null, disabledBecause: null, failures: 0, failingSince: null, dueAt: 0n }
      : { disabledAt: disabledAt ?? this.clock.instant(), disabledBecause: as };
    Object.assign(endpoint, state);
    await manager.update(WebhookEndpoint, { id }, state);
    const details = enabled ? { disabledAt, because: disabledBecause } : { because: as };
    await this.record(manager, by, enabled ? 'enabled' : 'disabled', endpoint, details);
    if (enabled) this.transactions.afterCommit(() => this.deliveries.ring());
  }
}

/** The details of changes for the audit trail; empty when nothing changes. `events` are those that the endpoint subscribes to afterwards. */
function changesShown(
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

/** The origin of an address, because many paths and queries contain a secret. */
function originOf(url: string): string {
  return new URL(url).origin;
}

function refuseFaults(details: readonly FaultDetail[]): void {
  if (details.length > 0) throw new ApiError(HTTP_ERRORS.validation_failed, { details });
}

function inOrder(events: readonly string[]): string[] {
  return [...new Set(events)].toSorted();
}
