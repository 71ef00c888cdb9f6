import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import { differences } from '../../auth/audit/audit.service.js';
import type { Requester } from '../../auth/clients/audited-changes.js';
import { ClientsService } from '../../auth/clients/clients.service.js';
import { requireChange } from '../../auth/clients/key-rules.js';
import { Clock } from '../../core/time/clock.js';
import { BY_CREATION, type Page, type PageRequest, keysetPage } from '../../database/keyset-page.js';
import { type Sweep, Sweeper } from '../../database/sweeper.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { ApiError, type ErrorDetail } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { BackgroundLoops } from '../../events/jobs/background-loops.js';
import { WebhookAddresses } from '../webhook-addresses.js';
import { WEBHOOKS_LEASE } from '../due-deliveries.js';
import { WebhookDelivery } from '../webhook-delivery.entity.js';
import {
  type DisabledBecause,
  type ENDPOINT_STATES,
  FAILING,
  HEALTHY,
  WebhookEndpoint,
} from '../webhook-endpoint.entity.js';
import { newWebhookSecret } from '../webhook-signature.js';
import {
  type NewWebhookEndpointDto,
  type WebhookEndpointChangesDto,
  type WebhookEndpointDto,
  type WebhookEndpointStateDto,
  type WebhookEndpointWithSecretDto,
  toWebhookEndpointDto,
  toWebhookEndpointWithSecretDto,
} from './dto/webhook-endpoint.dto.js';
import { EndpointChanges } from './endpoint-changes.js';
import { type SubscribedEndpoint, subscribe, waitingEventsOf, withEvents } from './endpoint-events.js';
import { MAX_ENDPOINTS, eventErrors, requireEventScopes } from './endpoint-rules.js';
import { WEBHOOK_ERRORS } from './webhook-endpoints.errors.js';

/** Filters a list of endpoints. */
export interface EndpointFilter {
  readonly client?: string | undefined;
  /** Only the endpoint of this delivery. */
  readonly delivery?: bigint | undefined;
  readonly state?: (typeof ENDPOINT_STATES)[number] | undefined;
}

/** Creates, reads, changes and deletes webhook endpoints. In self-service, endpoints of other clients are not found. */
@Injectable()
export class WebhookEndpointsService {
  constructor(
    @InjectRepository(WebhookEndpoint) private readonly endpoints: Repository<WebhookEndpoint>,
    private readonly clients: ClientsService,
    private readonly changes: EndpointChanges,
    private readonly addresses: WebhookAddresses,
    private readonly loops: BackgroundLoops,
    private readonly transactions: Transactions,
    private readonly sweeper: Sweeper,
    private readonly clock: Clock,
  ) {
    clients.registerLog((clientId) =>
      logOf('endpoint_id IN (SELECT id FROM webhook_endpoints WHERE client_id = :clientId)', { clientId }),
    );
  }

  /** A page of the matching endpoints, oldest first, and their total number. Throws client_not_found. */
  async list(
    page: PageRequest,
    { client: clientId, delivery: deliveryId, state }: EndpointFilter,
  ): Promise<Page<WebhookEndpointDto>> {
    const query = this.endpoints.createQueryBuilder('endpoint');
    if (clientId !== undefined) {
      await this.clients.get(clientId);
      query.where('endpoint.clientId = :clientId', { clientId });
    }
    if (deliveryId !== undefined)
      query.andWhere('endpoint.id IN (SELECT endpoint_id FROM webhook_deliveries WHERE id = :deliveryId)', {
        deliveryId,
      });
    if (state !== undefined)
      query.andWhere(
        state === 'failing' ? `endpoint.id IN (${FAILING('id')})` : 'endpoint.disabledAt IS NOT NULL',
      );
    const total = await query.getCount();
    const { items, next } = await keysetPage(query, page, BY_CREATION);
    const found = await withEvents(items, this.endpoints.manager);
    return {
      ...(next ? { next } : {}),
      total,
      items: found.map((one) => toWebhookEndpointDto(one, this.clock.now())),
    };
  }

  /** An endpoint, and the number of its waiting messages. Throws webhook_endpoint_not_found. */
  async get(id: string, by: Requester, manager = this.endpoints.manager): Promise<WebhookEndpointStateDto> {
    const found = await this.find(id, by, manager);
    const waiting = await manager.countBy(WebhookDelivery, { endpointId: id, state: 'waiting' });
    return Object.assign(toWebhookEndpointDto(found, this.clock.now()), { waiting });
  }

  /** The row of an endpoint, read with the manager of a transaction if given. Throws webhook_endpoint_not_found. */
  async find(
    id: string,
    { clientId }: Requester,
    manager = this.endpoints.manager,
  ): Promise<SubscribedEndpoint> {
    const [found] = await withEvents(await manager.findBy(WebhookEndpoint, { id }), manager);
    if (!found || (clientId !== undefined && found.clientId !== clientId))
      throw new ApiError(WEBHOOK_ERRORS.webhook_endpoint_not_found, { params: { id } });
    return found;
  }

  /**
   * Creates an endpoint. Throws client_not_found, webhook_endpoint_limit_reached, event_scope_not_held, validation_failed for an invalid
   * URL or event, and webhook_endpoint_locked for an owner if an operator has disabled an endpoint with this URL.
   */
  async create(input: NewWebhookEndpointDto, by: Requester): Promise<WebhookEndpointWithSecretDto> {
    const { url, label = null } = input;
    const events = inOrder(input.events);
    refuseIfAny([...this.urlErrors(url), ...eventErrors(input.events)]);
    requireEventScopes(events, by);
    const clientId = by.clientId ?? input.clientId;
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
      ...HEALTHY,
    });
    const clientName = await this.changes.run(by, async (manager) => {
      const { name } = await this.clients.get(clientId, manager);
      await refuseLocked(by, { url }, manager);
      if ((await manager.countBy(WebhookEndpoint, { clientId })) >= MAX_ENDPOINTS)
        throw new ApiError(WEBHOOK_ERRORS.webhook_endpoint_limit_reached, {
          params: { limit: MAX_ENDPOINTS },
        });
      await manager.insert(WebhookEndpoint, endpoint);
      await subscribe(endpoint.id, events, manager);
      await this.changes.record(manager, by, 'created', endpoint, { url: originOf(url), events, label });
      return name;
    });
    return toWebhookEndpointWithSecretDto(Object.assign(endpoint, { clientName, events }), this.clock.now());
  }

  /**
   * Changes an endpoint; has no effect if nothing changes. When enabled again, it continues with its first waiting message. Throws
   * webhook_endpoint_not_found, event_scope_not_held, validation_failed, and webhook_endpoint_locked for an owner who enables or moves an
   * endpoint that an operator has disabled, or moves another endpoint to its URL.
   */
  async update(id: string, changes: WebhookEndpointChangesDto, by: Requester): Promise<WebhookEndpointDto> {
    requireChange(changes, ['url', 'events', 'label', 'enabled']);
    const { url, events: requested, enabled } = changes;
    const stored = await this.find(id, by);
    refuseIfAny([
      // A stored URL that is not in normal form may stay.
      ...(url === undefined || url === stored.url ? [] : this.urlErrors(url)),
      ...(requested === undefined ? [] : eventErrors(requested)),
    ]);
    return this.changes.run(by, async (manager) => {
      const before = await this.find(id, by, manager);
      const events = requested === undefined ? before.events : inOrder(requested);
      const isMoved = url !== undefined && url !== before.url;
      // A new address receives all subscribed events and the waiting messages; otherwise only newly subscribed events are disclosed.
      const transferred = isMoved
        ? [...events, ...before.events, ...(await waitingEventsOf(id, manager))]
        : events.filter((name) => !before.events.includes(name));
      requireEventScopes(transferred, by);
      if (isMoved) await refuseLocked(by, { id, url }, manager);
      if (enabled) await refuseLocked(by, { id }, manager);
      const details = changesShown(before, changes, events);
      const { label = before.label } = changes;
      // A new address counts as a repair: waiting messages are sent there immediately.
      const state = { label, ...(isMoved ? { url, ...HEALTHY } : {}) };
      const endpoint = Object.assign(before, state, { events });
      if (Object.keys(details).length > 0) {
        await manager.update(WebhookEndpoint, { id }, state);
        if (isMoved) this.transactions.afterCommit(() => this.loops.wake(WEBHOOKS_LEASE));
        if (requested !== undefined) await subscribe(id, events, manager);
        await this.changes.record(manager, by, 'updated', endpoint, details);
      }
      if (enabled !== undefined) await this.setEnabled(endpoint, enabled, by, manager);
      return toWebhookEndpointDto(endpoint, this.clock.now());
    });
  }

  /**
   * Deletes an endpoint with its log and waiting messages; returns its last state. Throws webhook_endpoint_not_found, and
   * webhook_endpoint_locked for an owner if an operator has disabled it, because the owner could otherwise create a new one with its URL.
   */
  async delete(id: string, by: Requester): Promise<WebhookEndpointDto> {
    const deletable = async (manager?: EntityManager): Promise<SubscribedEndpoint> => {
      const endpoint = await this.find(id, by, manager);
      await refuseLocked(by, { id }, manager ?? this.endpoints.manager);
      return endpoint;
    };
    await deletable();
    await this.sweeper.run(logOf('endpoint_id = :id', { id }));
    const work = async (manager: EntityManager): Promise<WebhookEndpointDto> => {
      const endpoint = await deletable(manager);
      await manager.delete(WebhookEndpoint, { id });
      const { url, label } = endpoint;
      await this.changes.record(manager, by, 'deleted', endpoint, { url: originOf(url), label });
      return toWebhookEndpointDto(endpoint, this.clock.now());
    };
    return this.changes.run(by, work, 'unlimited');
  }

  /** Errors in a URL. Its host name is resolved and checked at each attempt. */
  private urlErrors(url: string): ErrorDetail[] {
    const error = this.addresses.urlError(url);
    return error ? [{ field: 'url', ...error }] : [];
  }

  private async setEnabled(
    endpoint: WebhookEndpoint,
    enabled: boolean,
    by: Requester,
    manager: EntityManager,
  ): Promise<void> {
    const { id, disabledAt, disabledBecause } = endpoint;
    const as: DisabledBecause = by.clientId === undefined ? 'operator' : 'owner';
    // An operator who disables a disabled endpoint takes over from its owner; otherwise nothing changes.
    const isStored = as === 'owner' || disabledBecause === 'operator';
    if (enabled ? disabledAt === null : disabledAt !== null && isStored) return;
    const state = enabled
      ? { disabledAt: null, disabledBecause: null, ...HEALTHY }
      : { disabledAt: disabledAt ?? this.clock.instant(), disabledBecause: as };
    Object.assign(endpoint, state);
    await manager.update(WebhookEndpoint, { id }, state);
    const details = enabled ? { disabledAt, because: disabledBecause } : { because: as };
    await this.changes.record(manager, by, enabled ? 'enabled' : 'disabled', endpoint, details);
    if (enabled) this.transactions.afterCommit(() => this.loops.wake(WEBHOOKS_LEASE));
  }
}

/** The log of endpoints, which is deleted before them in batches. Waiting messages are deleted with their endpoint. */
function logOf(where: string, parameters: object): Sweep {
  return {
    entity: WebhookDelivery,
    where: `${where} AND state <> 'waiting'`,
    parameters: () => parameters,
  };
}

/** Throws webhook_endpoint_locked for an owner if an operator has disabled the endpoint with this id, or one with this URL. */
async function refuseLocked(
  { clientId }: Requester,
  { id, url }: { readonly id?: string; readonly url?: string },
  manager: EntityManager,
): Promise<void> {
  if (clientId === undefined) return;
  const locked = await manager.findBy(WebhookEndpoint, { clientId, disabledBecause: 'operator' });
  const intended = locked.find((one) => one.id === id || (url !== undefined && isSame(one.url, url)));
  if (intended) throw new ApiError(WEBHOOK_ERRORS.webhook_endpoint_locked, { params: { id: intended.id } });
}

/** Whether two URLs are equal, with or without the trailing slash of a bare host name. */
function isSame(a: string, b: string): boolean {
  return new URL(a).href === new URL(b).href;
}

/** The details of changes for the audit trail; empty if nothing changes. `events` are the new subscriptions. */
function changesShown(
  before: SubscribedEndpoint,
  { url, label = before.label }: WebhookEndpointChangesDto,
  events: readonly string[],
): Record<string, unknown> {
  const changed = differences(
    { label: before.label, events: before.events.join(', ') },
    { label, events: events.join(', ') },
  );
  if (url === undefined || url === before.url) return changed;
  // Both origins, even if they are equal and only the path has changed.
  return { ...changed, url: { from: originOf(before.url), to: originOf(url) } };
}

/** The origin of a URL, because many paths and queries contain a secret. */
function originOf(url: string): string {
  return new URL(url).origin;
}

function refuseIfAny(details: readonly ErrorDetail[]): void {
  if (details.length > 0) throw new ApiError(HTTP_ERRORS.validation_failed, { details });
}

function inOrder(events: readonly string[]): string[] {
  return [...new Set(events)].toSorted();
}
