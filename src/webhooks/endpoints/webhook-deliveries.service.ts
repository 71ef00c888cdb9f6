import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DataSource, type EntityManager, type Repository } from 'typeorm';
import type { Requester } from '../../auth/clients/audited-changes.js';
import { Clock } from '../../core/time/clock.js';
import type { Database } from '../../database/database.js';
import { BY_INT64_ID, type Page, type PageRequest, keysetPage } from '../../database/keyset-page.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { ApiError } from '../../core/errors/api-error.js';
import { BackgroundLoops } from '../../events/jobs/background-loops.js';
import { WEBHOOKS_LEASE } from '../due-deliveries.js';
import { type DeliveryState, WebhookDelivery } from '../webhook-delivery.entity.js';
import { WebhookMessage } from '../webhook-message.entity.js';
import { messageOf } from '../webhook-messages.js';
import { WEBHOOK_TEST } from '../webhooks.events.js';
import {
  type WebhookDeliveryDto,
  type WebhookDeliveryWithPayloadDto,
  toWebhookDeliveryDto,
} from './dto/webhook-delivery.dto.js';
import { requireEventScopes } from './endpoint-rules.js';
import { WEBHOOK_ERRORS } from './webhook-endpoints.errors.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

/** The log of deliveries, test messages, and redelivery; to a client that asks for itself those of its endpoints. */
@Injectable()
export class WebhookDeliveriesService {
  constructor(
    @InjectRepository(WebhookDelivery) private readonly deliveries: Repository<WebhookDelivery>,
    private readonly dataSource: DataSource,
    private readonly endpoints: WebhookEndpointsService,
    private readonly loops: BackgroundLoops,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /** A page of the deliveries of an endpoint, latest first, in one state or in any. Throws webhook_endpoint_not_found. */
  async list(
    page: PageRequest,
    endpointId: string,
    by: Requester,
    state?: DeliveryState,
  ): Promise<Page<WebhookDeliveryDto>> {
    await this.endpoints.find(endpointId, by);
    const query = this.deliveries
      .createQueryBuilder('delivery')
      .innerJoin('delivery.message', 'message')
      .addSelect(['message.id', 'message.event', 'message.createdAt'])
      .where('delivery.endpointId = :endpointId', { endpointId });
    if (state !== undefined) query.andWhere('delivery.state = :state', { state });
    const { items, ...rest } = await keysetPage(query, page, BY_INT64_ID, 'DESC');
    return { ...rest, items: items.map(toWebhookDeliveryDto) };
  }

  /**
   * A delivery with its body. Throws webhook_endpoint_not_found, webhook_delivery_not_found, and event_scope_not_held when the reader
   * lacks the scope that the event needs.
   */
  async get(endpointId: string, id: bigint, by: Requester): Promise<WebhookDeliveryWithPayloadDto> {
    await this.endpoints.find(endpointId, by);
    const delivery = await this.find(endpointId, id, by);
    return Object.assign(toWebhookDeliveryDto(delivery), { payload: delivery.message.payload });
  }

  /**
   * Sends a message of the log again, with its id, after the waiting messages; returns the new delivery. Throws
   * webhook_endpoint_not_found, webhook_delivery_not_found, webhook_endpoint_disabled, and event_scope_not_held for what the requester may
   * not read.
   */
  redeliver(endpointId: string, id: bigint, by: Requester): Promise<WebhookDeliveryDto> {
    return this.add(endpointId, by, async (manager) => {
      return (await this.find(endpointId, id, by, manager)).message;
    });
  }

  /**
   * Sends a `webhook.test` to an endpoint, after the waiting messages; returns its delivery. Throws webhook_endpoint_not_found and
   * webhook_endpoint_disabled.
   */
  test(endpointId: string, by: Requester): Promise<WebhookDeliveryDto> {
    return this.add(endpointId, by, async (manager) => {
      const message = messageOf(WEBHOOK_TEST.name, { endpointId }, this.clock.instant());
      await manager.insert(WebhookMessage, message);
      return message;
    });
  }

  private async find(
    endpointId: string,
    id: bigint,
    by: Requester,
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
    requireEventScopes([delivery.message.event], by);
    return delivery;
  }

  /** Adds a delivery of a message to an enabled endpoint. */
  private add(
    endpointId: string,
    by: Requester,
    prepare: (manager: EntityManager) => Promise<WebhookMessage>,
  ): Promise<WebhookDeliveryDto> {
    return this.dataSource.transaction(async (manager) => {
      await keepEndpoint(manager, endpointId);
      const { disabledAt } = await this.endpoints.find(endpointId, by, manager);
      if (disabledAt !== null)
        throw new ApiError(WEBHOOK_ERRORS.webhook_endpoint_disabled, {
          params: { id: endpointId, instant: disabledAt },
        });
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
      return toWebhookDeliveryDto(delivery);
    });
  }
}

/** Lets nobody delete an endpoint, if there is one, until the transaction ends. */
async function keepEndpoint(manager: EntityManager, id: string): Promise<void> {
  const { driver, dialect } = manager.connection as Database;
  const kept = `SELECT 1 FROM webhook_endpoints WHERE id = :id ${dialect.kept('webhook_endpoints')}`;
  await manager.query(...driver.escapeQueryWithParameters(kept, { id }, {}));
}
