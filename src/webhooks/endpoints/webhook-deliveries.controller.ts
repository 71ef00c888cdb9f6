import { Get, Param, Post, Query, type Type } from '@nestjs/common';
import type { Requester } from '../../auth/clients/audited-changes.js';
import { type Audience, AudienceController, differencesOf } from '../../http/declarations/audience.js';
import { ApiErrors } from '../../core/errors/api-errors.decorator.js';
import { CurrentRequester } from '../../http/declarations/current-requester.js';
import { Operation, pageOf } from '../../http/declarations/operation.decorator.js';
import { Paged, type Pager } from '../../http/paging/pager.js';
import {
  WebhookDeliveriesQuery,
  WebhookDeliveryDto,
  WebhookDeliveryParams,
  WebhookDeliveryWithPayloadDto,
  WebhookEndpointParams,
} from './dto/webhook-delivery.dto.js';
import { WebhookEndpointStateDto, WebhookEventDto } from './dto/webhook-endpoint.dto.js';
import { grantableEvents } from './endpoint-rules.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { WEBHOOK_ERRORS } from './webhook-endpoints.errors.js';
import { WEBHOOKS_TAG } from './webhooks.controller.js';

const {
  event_scope_not_held,
  webhook_client_suspended,
  webhook_delivery_not_found,
  webhook_delivery_not_waiting,
  webhook_endpoint_disabled,
  webhook_endpoint_not_found,
} = WEBHOOK_ERRORS;

/** Deliveries of webhook endpoints, and the available events, below the path of an audience. */
export function webhookDeliveriesController(audience: Audience): Type {
  const { isOwn, own, errors } = differencesOf(audience);
  // Keys of a suspended client are refused earlier.
  const unsendable = [webhook_endpoint_disabled, ...(isOwn ? [] : [webhook_client_suspended])];
  const deliveryAddress = ({
    endpointId,
    id,
  }: {
    readonly endpointId: string;
    readonly id: bigint;
  }): string => `/${audience.prefix}/webhooks/${endpointId}/deliveries/${id}`;

  @AudienceController(audience, '', WEBHOOKS_TAG)
  class WebhookDeliveriesController {
    constructor(private readonly deliveries: WebhookDeliveriesService) {}

    @Get('webhooks/:endpointId/deliveries')
    @Operation({
      id: `list${own}WebhookDeliveries`,
      summary: 'List the deliveries of a webhook endpoint',
      description: 'Lists the deliveries of an endpoint, latest first, without their bodies.',
      responses: pageOf(WebhookDeliveryDto, 'WebhookDeliveries', 'A page of deliveries'),
    })
    @ApiErrors(...errors, webhook_endpoint_not_found)
    list(
      @Param() { endpointId }: WebhookEndpointParams,
      @Query() query: WebhookDeliveriesQuery,
      @CurrentRequester(audience) by: Requester,
      @Paged() pager: Pager,
    ): Promise<WebhookDeliveryDto[]> {
      return pager.respond(query, (page) => this.deliveries.list(page, endpointId, by, query.state));
    }

    @Get('webhooks/:endpointId/deliveries/:deliveryId')
    @Operation({
      id: `get${own}WebhookDelivery`,
      summary: 'Show a delivery',
      description:
        'Shows a delivery with its body and its last attempts. The key needs the scope of the event.',
      responses: { status: 200, description: 'The delivery', type: WebhookDeliveryWithPayloadDto },
    })
    @ApiErrors(...errors, event_scope_not_held, webhook_delivery_not_found, webhook_endpoint_not_found)
    get(
      @Param() { endpointId, deliveryId }: WebhookDeliveryParams,
      @CurrentRequester(audience) by: Requester,
    ): Promise<WebhookDeliveryWithPayloadDto> {
      return this.deliveries.get(endpointId, deliveryId, by);
    }

    @Post('webhooks/:endpointId/deliveries/:deliveryId/redeliver')
    @Operation({
      id: `redeliver${own}Webhook`,
      summary: 'Send a message again',
      description:
        'Adds a delivery of the message, with the same `webhook-id`, after the waiting messages. `waitingBefore` and `nextAttemptAt` in the ' +
        'response show when it will be sent: a failing endpoint receives it after its waiting messages. The key needs the scope of the ' +
        'event.',
      responses: {
        status: 201,
        description: 'The new delivery',
        type: WebhookDeliveryDto,
        location: deliveryAddress,
      },
    })
    @ApiErrors(
      ...errors,
      event_scope_not_held,
      webhook_delivery_not_found,
      ...unsendable,
      webhook_endpoint_not_found,
    )
    redeliver(
      @Param() { endpointId, deliveryId }: WebhookDeliveryParams,
      @CurrentRequester(audience) by: Requester,
    ): Promise<WebhookDeliveryDto> {
      return this.deliveries.redeliver(endpointId, deliveryId, by);
    }

    @Post('webhooks/:endpointId/test')
    @Operation({
      id: `test${own}Webhook`,
      summary: 'Send a test',
      description:
        'Adds a delivery of the event `webhook.test` after the waiting messages. `waitingBefore` and `nextAttemptAt` in the response show ' +
        'when it will be sent: a failing endpoint receives it after its waiting messages. The delivery shows whether it was received.',
      responses: {
        status: 201,
        description: 'The delivery of the test',
        type: WebhookDeliveryDto,
        location: deliveryAddress,
      },
    })
    @ApiErrors(...errors, ...unsendable, webhook_endpoint_not_found)
    test(
      @Param() { endpointId }: WebhookEndpointParams,
      @CurrentRequester(audience) by: Requester,
    ): Promise<WebhookDeliveryDto> {
      return this.deliveries.test(endpointId, by);
    }

    @Post('webhooks/:endpointId/retry')
    @Operation({
      id: `retry${own}Webhook`,
      summary: 'Retry a webhook endpoint now',
      description:
        'Makes the next attempt of a failing endpoint now instead of at its `nextAttemptAt`. The first waiting message is sent immediately ' +
        'and, once it is delivered, the others follow in order. If it fails again, the next attempt is in 5 minutes.',
      responses: { status: 200, description: 'The endpoint', type: WebhookEndpointStateDto },
    })
    @ApiErrors(...errors, ...unsendable, webhook_endpoint_not_found)
    retry(
      @Param() { endpointId }: WebhookEndpointParams,
      @CurrentRequester(audience) by: Requester,
    ): Promise<WebhookEndpointStateDto> {
      return this.deliveries.retry(endpointId, by);
    }

    @Post('webhooks/:endpointId/deliveries/:deliveryId/retry')
    @Operation({
      id: `retry${own}WebhookDelivery`,
      summary: 'Retry a waiting delivery now',
      description:
        'Makes the next attempt of the endpoint now. The order does not change: the `waitingBefore` messages before this delivery are sent ' +
        'first. The key needs the scope of the event.',
      responses: { status: 200, description: 'The delivery', type: WebhookDeliveryDto },
    })
    @ApiErrors(
      ...errors,
      event_scope_not_held,
      webhook_delivery_not_found,
      webhook_delivery_not_waiting,
      ...unsendable,
      webhook_endpoint_not_found,
    )
    retryDelivery(
      @Param() { endpointId, deliveryId }: WebhookDeliveryParams,
      @CurrentRequester(audience) by: Requester,
    ): Promise<WebhookDeliveryDto> {
      return this.deliveries.retryDelivery(endpointId, deliveryId, by);
    }

    @Get('webhook-events')
    @Operation({
      id: `list${own}WebhookEvents`,
      summary: 'List webhook events',
      description: 'Lists the events with their descriptions and scopes.',
      responses: {
        status: 200,
        description: 'The events, sorted by name',
        arrayOf: WebhookEventDto,
        schemaName: 'WebhookEvents',
      },
    })
    listEvents(): WebhookEventDto[] {
      return grantableEvents();
    }
  }
  return WebhookDeliveriesController;
}
