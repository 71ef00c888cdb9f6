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
import { WebhookEventDto } from './dto/webhook-endpoint.dto.js';
import { tellableEvents } from './endpoint-rules.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { WEBHOOK_ERRORS } from './webhook-endpoints.errors.js';
import { WEBHOOKS_TAG } from './webhooks.controller.js';

const {
  event_scope_not_held,
  webhook_delivery_not_found,
  webhook_endpoint_disabled,
  webhook_endpoint_not_found,
} = WEBHOOK_ERRORS;

/** Deliveries of webhook endpoints, and the events that these can subscribe to, below the path of an audience. */
export function webhookDeliveriesController(audience: Audience): Type {
  const { own, errors } = differencesOf(audience);
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
      description: 'Shows a delivery with its body. Also needs the scope of its event.',
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
        'Sends the message of a delivery again, with the same `webhook-id`, after the waiting messages. This is a new delivery. ' +
        'Also needs the scope of its event.',
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
      webhook_endpoint_disabled,
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
        'Sends a message of the event `webhook.test` to an endpoint, after the waiting messages. Its delivery shows whether it arrived.',
      responses: {
        status: 201,
        description: 'The delivery of the test',
        type: WebhookDeliveryDto,
        location: deliveryAddress,
      },
    })
    @ApiErrors(...errors, webhook_endpoint_disabled, webhook_endpoint_not_found)
    test(
      @Param() { endpointId }: WebhookEndpointParams,
      @CurrentRequester(audience) by: Requester,
    ): Promise<WebhookDeliveryDto> {
      return this.deliveries.test(endpointId, by);
    }

    @Get('webhook-events')
    @Operation({
      id: `list${own}WebhookEvents`,
      summary: 'List the events of webhooks',
      description: 'Lists the events with their descriptions and scopes.',
      responses: {
        status: 200,
        description: 'The events, by name',
        arrayOf: WebhookEventDto,
        schemaName: 'WebhookEvents',
      },
    })
    listEvents(): WebhookEventDto[] {
      return tellableEvents();
    }
  }
  return WebhookDeliveriesController;
}
