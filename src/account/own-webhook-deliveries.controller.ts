import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ACCOUNTS_ERRORS } from '../auth/clients/accounts.errors.js';
import type { Operator } from '../auth/clients/audited-changes.js';
import { RequireScopes } from '../auth/auth.decorators.js';
import { type Caller, CurrentClient } from '../auth/caller.js';
import { ApiErrors } from '../core/errors/api-errors.decorator.js';
import { CurrentOperator } from '../admin/current-operator.js';
import {
  WebhookDeliveriesQuery,
  WebhookDeliveryDto,
  WebhookDeliveryParams,
  WebhookDeliveryWithPayloadDto,
  WebhookEndpointParams,
  stateOf,
  toWebhookDeliveryDto,
  toWebhookDeliveryWithPayloadDto,
} from '../admin/dto/webhook-delivery.dto.js';
import { WEBHOOKS_TAG } from '../admin/dto/webhook-endpoint.dto.js';
import { NEXT_PAGE, Operation, Tag } from '../http/operation.decorator.js';
import { Paged, type Pager } from '../http/paging/pager.js';
import { Uncounted } from '../throttling/uncounted.decorator.js';
import { WebhookDeliveriesService } from '../webhooks/endpoints/webhook-deliveries.service.js';
import { WEBHOOK_ERRORS } from '../webhooks/endpoints/webhook-endpoints.errors.js';
import { WEBHOOKS_BOUND } from './account.bounds.js';
import { accountHolderOf } from './account-holder.js';
import { ACCOUNT_SCOPE } from './account.scopes.js';

const { no_account } = ACCOUNTS_ERRORS;
const {
  event_scope_not_held,
  webhook_delivery_not_found,
  webhook_endpoint_disabled,
  webhook_endpoint_not_found,
} = WEBHOOK_ERRORS;

const deliveryAddress = ({ endpointId, id }: { readonly endpointId: string; readonly id: bigint }): string =>
  `/account/webhooks/${endpointId}/deliveries/${id}`;

/** What the webhook endpoints of the caller's own client were sent. */
@Tag('Webhooks', WEBHOOKS_TAG)
@RequireScopes(ACCOUNT_SCOPE)
@Uncounted(WEBHOOKS_BOUND)
@Controller('account/webhooks/:endpointId')
export class OwnWebhookDeliveriesController {
  constructor(private readonly deliveries: WebhookDeliveriesService) {}

  @Get('deliveries')
  @Operation({
    id: 'listOwnWebhookDeliveries',
    summary: 'List what a webhook endpoint was sent',
    description: 'Lists the deliveries of an endpoint, latest first, without what was sent.',
    answers: {
      status: 200,
      description: 'A page of deliveries',
      arrayOf: WebhookDeliveryDto,
      schemaName: 'WebhookDeliveries',
      optionalHeaders: NEXT_PAGE,
    },
  })
  @ApiErrors(no_account, webhook_endpoint_not_found)
  async list(
    @Param() { endpointId }: WebhookEndpointParams,
    @Query() query: WebhookDeliveriesQuery,
    @CurrentClient() caller: Caller | undefined,
    @Paged() pager: Pager,
  ): Promise<WebhookDeliveryDto[]> {
    const of = { ...accountHolderOf(caller), ...stateOf(query) };
    const found = await pager.answer(query, (page) => this.deliveries.list(page, endpointId, of));
    return found.map(toWebhookDeliveryDto);
  }

  @Get('deliveries/:deliveryId')
  @Operation({
    id: 'getOwnWebhookDelivery',
    summary: 'Show what was sent',
    description: 'Shows a delivery with its body. Needs the scope, too, that its event is told for.',
    answers: { status: 200, description: 'The delivery', type: WebhookDeliveryWithPayloadDto },
  })
  @ApiErrors(no_account, event_scope_not_held, webhook_delivery_not_found, webhook_endpoint_not_found)
  async get(
    @Param() { endpointId, deliveryId }: WebhookDeliveryParams,
    @CurrentClient() caller: Caller | undefined,
    @CurrentOperator() by: Operator,
  ): Promise<WebhookDeliveryWithPayloadDto> {
    return toWebhookDeliveryWithPayloadDto(
      await this.deliveries.get(endpointId, deliveryId, by, accountHolderOf(caller)),
    );
  }

  @Post('deliveries/:deliveryId/redeliver')
  @Operation({
    id: 'redeliverOwnWebhook',
    summary: 'Send a message once more',
    description:
      'Sends the message of a delivery once more, with the same `webhook-id`, behind what waits already. It is a delivery of its own. ' +
      'Needs the scope, too, that its event is told for.',
    answers: {
      status: 201,
      description: 'The new delivery',
      type: WebhookDeliveryDto,
      location: deliveryAddress,
    },
  })
  @ApiErrors(
    no_account,
    event_scope_not_held,
    webhook_delivery_not_found,
    webhook_endpoint_disabled,
    webhook_endpoint_not_found,
  )
  async redeliver(
    @Param() { endpointId, deliveryId }: WebhookDeliveryParams,
    @CurrentClient() caller: Caller | undefined,
    @CurrentOperator() by: Operator,
  ): Promise<WebhookDeliveryDto> {
    return toWebhookDeliveryDto(
      await this.deliveries.redeliver(endpointId, deliveryId, by, accountHolderOf(caller)),
    );
  }

  @Post('test')
  @Operation({
    id: 'testOwnWebhook',
    summary: 'Send a test',
    description:
      'Sends a message of the event `webhook.test` to an endpoint, behind what waits already. Whether it arrived is told by its delivery.',
    answers: {
      status: 201,
      description: 'The delivery of the test',
      type: WebhookDeliveryDto,
      location: deliveryAddress,
    },
  })
  @ApiErrors(no_account, webhook_endpoint_disabled, webhook_endpoint_not_found)
  async test(
    @Param() { endpointId }: WebhookEndpointParams,
    @CurrentClient() caller: Caller | undefined,
  ): Promise<WebhookDeliveryDto> {
    return toWebhookDeliveryDto(await this.deliveries.test(endpointId, accountHolderOf(caller)));
  }
}
