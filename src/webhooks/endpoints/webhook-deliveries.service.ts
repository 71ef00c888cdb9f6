import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, MoreThan } from 'typeorm';
import type { Requester } from '../../auth/clients/audited-changes.js';
import { ClientsService } from '../../auth/clients/clients.service.js';
import { Clock } from '../../core/time/clock.js';
import type { Database } from '../../database/database.js';
import { BY_INT64_ID, type Page, type PageRequest, keysetPage } from '../../database/keyset-page.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { ApiError } from '../../core/errors/api-error.js';
import { BackgroundLoops } from '../../events/jobs/background-loops.js';
import { WEBHOOKS_LEASE } from '../due-deliveries.js';
import { type DeliveryState, WebhookDelivery } from '../webhook-delivery.entity.js';
import { WebhookEndpoint } from '../webhook-endpoint.entity.js';
import { WebhookMessage } from '../webhook-message.entity.js';
import { messageOf } from '../webhook-messages.js';
import { WEBHOOK_TEST } from '../webhooks.events.js';
import {
  type WebhookDeliveryDto,
  type WebhookDeliveryWithPayloadDto,
  toWebhookAttemptDto,
} from './dto/webhook-delivery.dto.js';
import type { WebhookEndpointStateDto } from './dto/webhook-endpoint.dto.js';
import { withWait, withWaits } from './delivery-waits.js';
import type { SubscribedEndpoint } from './endpoint-events.js';
import { requireEventScopes } from './endpoint-rules.js';
import { WEBHOOK_ERRORS } from './webhook-endpoints.errors.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

/** The log of deliveries, test messages, and redelivery; in self-service, limited to the client's endpoints. */
@Injectable()
export class WebhookDeliveriesService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly endpoints: WebhookEndpointsService,
    private readonly clients: ClientsService,
    private readonly loops: BackgroundLoops,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /** A page of the deliveries of an endpoint, latest first, optionally in one state. Throws webhook_endpoint_not_found. */
  async list(
    page: PageRequest,
    endpointId: string,
    by: Requester,
    state?: DeliveryState,
  ): Promise<Page<WebhookDeliveryDto>> {
    const endpoint = await this.endpoints.find(endpointId, by);
    const query = this.dataSource
      .getRepository(WebhookDelivery)
      .createQueryBuilder('delivery')
      .innerJoin('delivery.message', 'message')
      .addSelect(['message.id', 'message.event', 'message.createdAt'])
      .where('delivery.endpointId = :endpointId', { endpointId });
    if (state !== undefined) query.andWhere('delivery.state = :state', { state });
    const { items, ...rest } = await keysetPage(query, page, BY_INT64_ID, 'DESC');
    return { ...rest, items: await withWaits(endpoint, items, this.dataSource.manager) };
  }

  /**
   * A delivery with its body and attempts. Throws webhook_endpoint_not_found, webhook_delivery_not_found, and event_scope_not_held if the
   * reader lacks the scope of the event.
   */
  async get(endpointId: string, id: bigint, by: Requester): Promise<WebhookDeliveryWithPayloadDto> {
    const endpoint = await this.endpoints.find(endpointId, by);
    const delivery = await this.find(endpointId, id, by);
    const shown = await withWait(endpoint, delivery, this.dataSource.manager);
    const attempts = delivery.attemptLog ?? [];
    const attemptLog = attempts.map((one) => toWebhookAttemptDto(one, by.clientId === undefined));
    return Object.assign(shown, { payload: delivery.message.payload, attemptLog });
  }

  /**
   * Sends a message in the log again, with its id, after the waiting messages; returns the new delivery. Throws webhook_endpoint_not_found,
   * webhook_delivery_not_found, webhook_endpoint_disabled, webhook_client_suspended, and event_scope_not_held for an event that the
   * requester may not read.
   */
  redeliver(endpointId: string, id: bigint, by: Requester): Promise<WebhookDeliveryDto> {
    return this.add(endpointId, by, async (manager) => {
      return (await this.find(endpointId, id, by, manager)).message;
    });
  }

  /**
   * Sends a `webhook.test` to an endpoint, after the waiting messages; returns its delivery. Throws webhook_endpoint_not_found,
   * webhook_endpoint_disabled and webhook_client_suspended.
   */
  test(endpointId: string, by: Requester): Promise<WebhookDeliveryDto> {
    return this.add(endpointId, by, async (manager) => {
      const message = messageOf(WEBHOOK_TEST.name, { endpointId }, this.clock.instant());
      await manager.insert(WebhookMessage, message);
      return message;
    });
  }

  /**
   * Retries the first waiting message of an endpoint now, then sends the others in order; returns the endpoint. Throws
   * webhook_endpoint_not_found, webhook_endpoint_disabled and webhook_client_suspended.
   */
  retry(endpointId: string, by: Requester): Promise<WebhookEndpointStateDto> {
    return this.dataSource.transaction(async (manager) => {
      await this.retryNow(await this.requireSendable(endpointId, by, manager), manager);
      return this.endpoints.get(endpointId, by, manager);
    });
  }

  /**
   * Retries a waiting delivery now, after those that wait before it; returns it. Throws webhook_delivery_not_waiting, and the errors of
   * `redeliver()`.
   */
  retryDelivery(endpointId: string, id: bigint, by: Requester): Promise<WebhookDeliveryDto> {
    return this.dataSource.transaction(async (manager) => {
      const endpoint = await this.requireSendable(endpointId, by, manager);
      const delivery = await this.find(endpointId, id, by, manager);
      const { state } = delivery;
      if (state !== 'waiting')
        throw new ApiError(WEBHOOK_ERRORS.webhook_delivery_not_waiting, {
          params: { id: String(id), state },
        });
      return withWait(await this.retryNow(endpoint, manager), delivery, manager);
    });
  }

  private async find(
    endpointId: string,
    id: bigint,
    by: Requester,
    manager = this.dataSource.manager,
  ): Promise<WebhookDelivery> {
    const delivery = await manager.findOne(WebhookDelivery, {
      where: { id, endpointId },
      relations: { message: true },
    });
    if (!delivery)
      throw new ApiError(WEBHOOK_ERRORS.webhook_delivery_not_found, {
        params: { endpoint: endpointId, id: String(id) },
      });
    requireEventScopes([delivery.message.event], by);
    return delivery;
  }

  /** An endpoint that can receive messages, locked against deletion until the transaction ends. */
  private async requireSendable(
    endpointId: string,
    by: Requester,
    manager: EntityManager,
  ): Promise<SubscribedEndpoint> {
    await lockEndpoint(manager, endpointId);
    const endpoint = await this.endpoints.find(endpointId, by, manager);
    const { id, clientId, disabledAt } = endpoint;
    if (disabledAt !== null)
      throw new ApiError(WEBHOOK_ERRORS.webhook_endpoint_disabled, { params: { id, instant: disabledAt } });
    const { suspendedAt } = await this.clients.get(clientId, manager);
    if (suspendedAt !== null)
      throw new ApiError(WEBHOOK_ERRORS.webhook_client_suspended, {
        params: { client: clientId, id, instant: suspendedAt },
      });
    return endpoint;
  }

  /** Adds a delivery of a message to an enabled endpoint. */
  private add(
    endpointId: string,
    by: Requester,
    prepare: (manager: EntityManager) => Promise<WebhookMessage>,
  ): Promise<WebhookDeliveryDto> {
    return this.dataSource.transaction(async (manager) => {
      const endpoint = await this.requireSendable(endpointId, by, manager);
      const message = await prepare(manager);
      const delivery = manager.create(WebhookDelivery, {
        endpointId,
        messageId: message.id,
        message,
        state: 'waiting',
        attempts: 0,
        attemptedAt: null,
        status: null,
        error: null,
      });
      await manager.insert(WebhookDelivery, delivery);
      this.transactions.afterCommit(() => this.loops.wake(WEBHOOKS_LEASE));
      return withWait(endpoint, delivery, manager);
    });
  }

  /**
   * Makes the next attempt of an endpoint due now, and has the schedule continue after its first failure, so that many retries in a
   * row do not disable the endpoint; returns it as it is now.
   */
  private async retryNow(endpoint: SubscribedEndpoint, manager: EntityManager): Promise<SubscribedEndpoint> {
    this.transactions.afterCommit(() => this.loops.wake(WEBHOOKS_LEASE));
    if (endpoint.failures === 0) return endpoint;
    const retry = { failures: 1, dueAt: BigInt(this.clock.now()), delay: 0 };
    await manager.update(WebhookEndpoint, { id: endpoint.id, failures: MoreThan(0) }, retry);
    return Object.assign(endpoint, retry);
  }
}

/** Locks an endpoint, if it exists, against deletion until the transaction ends. */
async function lockEndpoint(manager: EntityManager, id: string): Promise<void> {
  const { driver, dialect } = manager.connection as Database;
  const lockClause = `SELECT 1 FROM webhook_endpoints WHERE id = :id ${dialect.lockRows('webhook_endpoints')}`;
  await manager.query(...driver.escapeQueryWithParameters(lockClause, { id }, {}));
}
