import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DataSource, type EntityManager, type Repository } from 'typeorm';
import type { Operator } from '../../auth/clients/audited-changes.js';
import { Clock } from '../../core/time/clock.js';
import { BY_INT64_ID, type Page, type PageRequest, keysetPage } from '../../database/keyset-page.js';
import { Transactions } from '../../database/transactions.js';
import { ApiError } from '../../core/errors/api-error.js';
import { WebhookDeliveries } from '../webhook-deliveries.js';
import { type DeliveryState, WebhookDelivery } from '../webhook-delivery.entity.js';
import type { WebhookEndpoint } from '../webhook-endpoint.entity.js';
import { WebhookMessage } from '../webhook-message.entity.js';
import type { EndpointsOf } from './endpoint-orders.js';
import { WEBHOOK_TEST } from '../webhooks.events.js';
import { requireEventScopes } from './endpoint-rules.js';
import { WEBHOOK_ERRORS } from './webhook-endpoints.errors.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

/** Which deliveries of an endpoint are listed. */
export interface DeliveriesOf extends EndpointsOf {
  readonly state?: DeliveryState;
}

/** The log of deliveries, test messages, and redelivery. */
@Injectable()
export class WebhookDeliveriesService {
  constructor(
    @InjectRepository(WebhookDelivery) private readonly deliveries: Repository<WebhookDelivery>,
    private readonly dataSource: DataSource,
    private readonly endpoints: WebhookEndpointsService,
    private readonly waiting: WebhookDeliveries,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /**
   * A page of the deliveries of an endpoint, latest first, each with its message but for the payload. Throws
   * webhook_endpoint_not_found.
   */
  async list(
    page: PageRequest,
    endpointId: string,
    { state, ...of }: DeliveriesOf = {},
  ): Promise<Page<WebhookDelivery>> {
    await this.endpoints.get(endpointId, of);
    const query = this.deliveries
      .createQueryBuilder('delivery')
      .innerJoin('delivery.message', 'message')
      .addSelect(['message.id', 'message.event', 'message.createdAt'])
      .where('delivery.endpointId = :endpointId', { endpointId });
    if (state !== undefined) query.andWhere('delivery.state = :state', { state });
    return keysetPage(query, page, BY_INT64_ID, 'DESC');
  }

  /**
   * A delivery with its message. Throws webhook_endpoint_not_found, webhook_delivery_not_found, and event_scope_not_held when the
   * reader lacks the scope that the event needs.
   */
  async get(endpointId: string, id: bigint, by: Operator, of: EndpointsOf = {}): Promise<WebhookDelivery> {
    await this.endpoints.get(endpointId, of);
    const delivery = await this.find(endpointId, id);
    requireEventScopes([delivery.message.event], by);
    return delivery;
  }

  /**
   * Sends a message of the log again, with its id, after the waiting messages; returns the new delivery. Throws
   * webhook_endpoint_not_found, webhook_delivery_not_found, webhook_endpoint_disabled, and event_scope_not_held for what the operator may
   * not read.
   */
  async redeliver(
    endpointId: string,
    id: bigint,
    by: Operator,
    of: EndpointsOf = {},
  ): Promise<WebhookDelivery> {
    await this.endpoints.get(endpointId, of);
    return this.dataSource.transaction(async (manager) => {
      await this.enabled(endpointId, of, manager);
      const { message } = await this.find(endpointId, id, manager);
      requireEventScopes([message.event], by);
      return this.add(endpointId, message, manager);
    });
  }

  /**
   * Sends a `webhook.test` to an endpoint, after the waiting messages; returns its delivery. Throws webhook_endpoint_not_found and
   * webhook_endpoint_disabled.
   */
  async test(endpointId: string, of: EndpointsOf = {}): Promise<WebhookDelivery> {
    await this.endpoints.get(endpointId, of);
    return this.dataSource.transaction(async (manager) => {
      await this.enabled(endpointId, of, manager);
      const createdAt = this.clock.instant();
      const event = WEBHOOK_TEST.name;
      const message = Object.assign(new WebhookMessage(), {
        id: `msg_${randomBytes(16).toString('hex')}`,
        event,
        payload: JSON.stringify({ type: event, timestamp: createdAt, data: { endpointId } }),
        createdAt,
      });
      await manager.insert(WebhookMessage, message);
      return this.add(endpointId, message, manager);
    });
  }

  private async enabled(id: string, of: EndpointsOf, manager: EntityManager): Promise<WebhookEndpoint> {
    const { endpoint } = await this.endpoints.get(id, of, manager);
    if (endpoint.disabledAt !== null)
      throw new ApiError(WEBHOOK_ERRORS.webhook_endpoint_disabled, {
        params: { id, instant: endpoint.disabledAt },
      });
    return endpoint;
  }

  private async find(
    endpointId: string,
    id: bigint,
    manager = this.deliveries.manager,
  ): Promise<WebhookDelivery> {
    const delivery = await manager.findOne(WebhookDelivery, {
      where: { id, endpointId },
      relations: { message: true },
    });
    if (!delivery)
      throw new ApiError(WEBHOOK_ERRORS.webhook_delivery_not_found, {
        params: { endpoint: endpointId, id: String(id) },
      });
    return delivery;
  }

  private async add(
    endpointId: string,
    message: WebhookMessage,
    manager: EntityManager,
  ): Promise<WebhookDelivery> {
    const delivery = Object.assign(new WebhookDelivery(), {
      endpointId,
      messageId: message.id,
      state: 'waiting' as const,
      attempts: 0,
      attemptedAt: null,
      status: null,
      error: null,
    });
    await manager.insert(WebhookDelivery, delivery);
    this.transactions.afterCommit(() => this.waiting.ring());
    return Object.assign(delivery, { message });
  }
}
