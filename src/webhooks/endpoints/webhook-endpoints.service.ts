import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import { AuditService, differences } from '../../auth/audit/audit.service.js';
import { AuditedChanges, type Operator } from '../../auth/clients/audited-changes.js';
import { ClientsService } from '../../auth/clients/clients.service.js';
import { KeyLimits } from '../../auth/clients/key-limits.js';
import { requireChange } from '../../auth/clients/key-rules.js';
import { Clock } from '../../core/time/clock.js';
import { BY_CREATION, type Page, type PageRequest, keysetPage } from '../../database/keyset-page.js';
import { Transactions } from '../../database/transactions.js';
import { ApiError, type FaultDetail } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { BackgroundLoops } from '../../events/jobs/background-loops.js';
import { WebhookAddresses } from '../webhook-addresses.js';
import { WEBHOOKS_LEASE } from '../webhook-deliveries.js';
import { WebhookDelivery } from '../webhook-delivery.entity.js';
import {
  type DisabledBecause,
  HEALTHY,
  type PreviousSecret,
  WebhookEndpoint,
} from '../webhook-endpoint.entity.js';
import { WebhookFanOuts } from '../webhook-fan-outs.js';
import { newWebhookSecret, signing } from '../webhook-signature.js';
import {
  type NewWebhookEndpointDto,
  type WebhookEndpointChangesDto,
  type WebhookEndpointDto,
  type WebhookEndpointStateDto,
  type WebhookEndpointWithSecretDto,
  toWebhookEndpointDto,
  toWebhookEndpointWithSecretDto,
} from './dto/webhook-endpoint.dto.js';
import { type SubscribedEndpoint, subscribe, waitingEventsOf, withEvents } from './endpoint-events.js';
import { MOST_ENDPOINTS, MOST_PREVIOUS_SECRETS, eventFaults, requireEventScopes } from './endpoint-rules.js';
import { WEBHOOK_ERRORS } from './webhook-endpoints.errors.js';

/**
 * Creates, shows, changes and deletes webhook endpoints: for an operator with a client those of this client, others are not found.
 * Every change is committed in one transaction with its audit entry, which holds of an address its origin alone, and never a secret.
 */
@Injectable()
export class WebhookEndpointsService {
  constructor(
    @InjectRepository(WebhookEndpoint) private readonly endpoints: Repository<WebhookEndpoint>,
    private readonly clients: ClientsService,
    private readonly changes: AuditedChanges,
    private readonly limits: KeyLimits,
    private readonly audit: AuditService,
    private readonly addresses: WebhookAddresses,
    private readonly fanOuts: WebhookFanOuts,
    private readonly loops: BackgroundLoops,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /** A page of the endpoints of one client, or of all, oldest first. Throws client_not_found. */
  async list(page: PageRequest, clientId?: string): Promise<Page<WebhookEndpointDto>> {
    const query = this.endpoints.createQueryBuilder('endpoint');
    if (clientId !== undefined) {
      await this.clients.get(clientId);
      query.where('endpoint.clientId = :clientId', { clientId });
    }
    const { items, ...rest } = await keysetPage(query, page, BY_CREATION);
    const found = await withEvents(items, this.endpoints.manager);
    return { ...rest, items: found.map(toWebhookEndpointDto) };
  }

  /** An endpoint, and the number of its waiting messages. Throws webhook_endpoint_not_found. */
  async get(id: string, by: Operator): Promise<WebhookEndpointStateDto> {
    const found = await this.find(id, by);
    const waiting = await this.endpoints.manager.countBy(WebhookDelivery, {
      endpointId: id,
      state: 'waiting',
    });
    return Object.assign(toWebhookEndpointDto(found), { waiting });
  }

  /** The row of an endpoint, read with the manager of a transaction if one is given. Throws webhook_endpoint_not_found. */
  async find(
    id: string,
    { clientId }: Operator,
    manager = this.endpoints.manager,
  ): Promise<SubscribedEndpoint> {
    const [found] = await withEvents(await manager.findBy(WebhookEndpoint, { id }), manager);
    if (!found || (clientId !== undefined && found.clientId !== clientId))
      throw new ApiError(WEBHOOK_ERRORS.webhook_endpoint_not_found, { params: { id } });
    return found;
  }

  /**
   * Creates an endpoint. Throws client_not_found, webhook_endpoint_limit_reached, event_scope_not_held, and validation_failed for an
   * address or an event that cannot be.
   */
  async create(order: NewWebhookEndpointDto, by: Operator): Promise<WebhookEndpointWithSecretDto> {
    const { url, label = null } = order;
    const events = inOrder(order.events);
    refuseFaults([...this.urlFaults(url), ...eventFaults(order.events)]);
    requireEventScopes(events, by);
    const clientId = by.clientId ?? order.clientId;
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
    await this.change(by, async (manager) => {
      await this.clients.get(clientId, manager);
      if ((await manager.countBy(WebhookEndpoint, { clientId })) >= MOST_ENDPOINTS)
        throw new ApiError(WEBHOOK_ERRORS.webhook_endpoint_limit_reached, {
          params: { limit: MOST_ENDPOINTS },
        });
      await manager.insert(WebhookEndpoint, endpoint);
      await subscribe(endpoint.id, events, manager);
      await this.record(manager, by, 'created', endpoint, { url: originOf(url), events, label });
    });
    return toWebhookEndpointWithSecretDto(Object.assign(endpoint, { events }));
  }

  /**
   * Changes an endpoint; does nothing when nothing changes. Enabled again, it continues with the message that it failed at.
   * Throws webhook_endpoint_not_found, event_scope_not_held, webhook_endpoint_locked for an owner who enables what an operator disabled,
   * and validation_failed.
   */
  async update(id: string, changes: WebhookEndpointChangesDto, by: Operator): Promise<WebhookEndpointDto> {
    requireChange(changes, ['url', 'events', 'label', 'enabled']);
    const { url, events: wanted, enabled } = changes;
    const stored = await this.find(id, by);
    refuseFaults([
      // One that was accepted in another form than the normal one may stay.
      ...(url === undefined || url === stored.url ? [] : this.urlFaults(url)),
      ...(wanted === undefined ? [] : eventFaults(wanted)),
    ]);
    return this.change(by, async (manager) => {
      const before = await this.find(id, by, manager);
      const events = wanted === undefined ? before.events : inOrder(wanted);
      const isMoved = url !== undefined && url !== before.url;
      // A new address receives all subscribed events and what waits; otherwise only newly subscribed events are disclosed.
      const handedOn = isMoved
        ? [...events, ...before.events, ...(await waitingEventsOf(id, manager))]
        : events.filter((name) => !before.events.includes(name));
      requireEventScopes(handedOn, by);
      const details = changesShown(before, changes, events);
      const { label = before.label } = changes;
      // A new address counts as a repair: waiting messages are sent there at once.
      const state = { label, ...(isMoved ? { url, ...HEALTHY } : {}) };
      const endpoint = Object.assign(before, state, { events });
      if (Object.keys(details).length > 0) {
        await manager.update(WebhookEndpoint, { id }, state);
        if (isMoved) this.transactions.afterCommit(() => this.loops.wake(WEBHOOKS_LEASE));
        if (wanted !== undefined) await subscribe(id, events, manager);
        await this.record(manager, by, 'updated', endpoint, details);
      }
      if (enabled !== undefined) await this.turn(endpoint, enabled, by, manager);
      return toWebhookEndpointDto(endpoint);
    });
  }

  /** Deletes an endpoint with its log and its waiting messages. Returns it as it was. Throws webhook_endpoint_not_found. */
  delete(id: string, by: Operator): Promise<WebhookEndpointDto> {
    const work = async (manager: EntityManager): Promise<WebhookEndpointDto> => {
      const endpoint = await this.find(id, by, manager);
      await manager.delete(WebhookEndpoint, { id });
      const { url, label } = endpoint;
      await this.record(manager, by, 'deleted', endpoint, { url: originOf(url), label });
      return toWebhookEndpointDto(endpoint);
    };
    return this.change(by, work, 'unlimited');
  }

  /**
   * Gives an endpoint a new secret. Messages are also signed with the old one for `grace`, in milliseconds, and with those of
   * earlier rotations until their own ends; with 0 all old secrets end at once. Throws webhook_endpoint_not_found and
   * webhook_secret_limit_reached.
   */
  rotateSecret(id: string, grace: number, by: Operator): Promise<WebhookEndpointWithSecretDto> {
    return this.change(by, async (manager) => {
      const endpoint = await this.find(id, by, manager);
      const until = grace === 0 ? null : this.clock.instant(grace);
      const previousSecrets = until === null ? [] : this.withPrevious(endpoint, until);
      const secrets = { secret: newWebhookSecret(), previousSecrets };
      await manager.update(WebhookEndpoint, { id }, secrets);
      await this.record(manager, by, 'secret_rotated', endpoint, { previousSecretUntil: until });
      return toWebhookEndpointWithSecretDto(Object.assign(endpoint, secrets));
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

  /**
   * Runs a change of an endpoint, behind the deliveries of all messages that were committed before it. Throws key_change_limit_reached
   * for a client that has changed too much itself.
   */
  private async change<T>(
    by: Operator,
    work: (manager: EntityManager) => Promise<T>,
    number: 'limited' | 'unlimited' = 'limited',
  ): Promise<T> {
    // Not within the transaction that counts the changes.
    await this.fanOuts.catchUp();
    return this.limits.changing(number === 'limited' ? by.clientId : undefined, () =>
      this.changes.run(by, async (manager) => {
        await this.fanOuts.beforeChange(manager);
        return work(manager);
      }),
    );
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
    manager: EntityManager,
  ): Promise<void> {
    const { id, disabledAt, disabledBecause } = endpoint;
    const as: DisabledBecause = by.clientId === undefined ? 'operator' : 'owner';
    // An operator who disables what its owner did keeps it disabled; anything else changes nothing.
    const isLocked = disabledBecause === 'operator';
    if (enabled ? disabledAt === null : disabledAt !== null && (as === 'owner' || isLocked)) return;
    if (enabled && isLocked && as === 'owner')
      throw new ApiError(WEBHOOK_ERRORS.webhook_endpoint_locked, { params: { id } });
    const state = enabled
      ? { disabledAt: null, disabledBecause: null, ...HEALTHY }
      : { disabledAt: disabledAt ?? this.clock.instant(), disabledBecause: as };
    Object.assign(endpoint, state);
    await manager.update(WebhookEndpoint, { id }, state);
    const details = enabled ? { disabledAt, because: disabledBecause } : { because: as };
    await this.record(manager, by, enabled ? 'enabled' : 'disabled', endpoint, details);
    if (enabled) this.transactions.afterCommit(() => this.loops.wake(WEBHOOKS_LEASE));
  }
}

/** The details of changes for the audit trail; empty when nothing changes. `events` are those that the endpoint subscribes to afterwards. */
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
  // Both origins, also where they are the same and only the path was changed.
  return { ...changed, url: { from: originOf(before.url), to: originOf(url) } };
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
