import { Body, Delete, Get, Header, Param, Patch, Post, Query, type Type } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { CLIENTS_ERRORS } from '../../auth/clients/clients.errors.js';
import type { Requester } from '../../auth/clients/audited-changes.js';
import {
  type Audience,
  AudienceController,
  differencesOf,
  OfClass,
} from '../../http/declarations/audience.js';
import { ApiErrors } from '../../core/errors/api-errors.decorator.js';
import { CurrentRequester } from '../../http/declarations/current-requester.js';
import { Operation, pageOf } from '../../http/declarations/operation.decorator.js';
import { PageQuery, Paged, type Pager } from '../../http/paging/pager.js';
import { WebhookEndpointParams, WebhookEndpointsQuery } from './dto/webhook-delivery.dto.js';
import {
  NewOwnWebhookEndpointDto,
  NewWebhookEndpointDto,
  WebhookEndpointChangesDto,
  WebhookEndpointDto,
  WebhookEndpointStateDto,
  WebhookEndpointWithSecretDto,
  WebhookSecretRotationDto,
} from './dto/webhook-endpoint.dto.js';
import { WEBHOOK_ERRORS } from './webhook-endpoints.errors.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';
import { WebhookSecretsService } from './webhook-secrets.service.js';

const { client_not_found, key_change_limit_reached } = CLIENTS_ERRORS;
const {
  event_scope_not_held,
  webhook_endpoint_limit_reached,
  webhook_endpoint_locked,
  webhook_endpoint_not_found,
  webhook_secret_limit_reached,
} = WEBHOOK_ERRORS;

/** Tag of the operations on webhooks. */
export const WEBHOOKS_TAG = ['Webhooks', 'URLs that receive events, and their deliveries.'] as const;

/** Webhook endpoints, below the path of an audience. */
export function webhooksController(audience: Audience): Type {
  const { isOwn, own, errors } = differencesOf(audience);
  const lockErrors = isOwn ? [webhook_endpoint_locked] : [];
  const limitErrors = isOwn ? [key_change_limit_reached] : [];
  const endpointAddress = ({ id }: { readonly id: string }): string => `/${audience.prefix}/webhooks/${id}`;

  const listQuery = isOwn ? PageQuery : WebhookEndpointsQuery;
  const newEndpoint = isOwn ? NewOwnWebhookEndpointDto : NewWebhookEndpointDto;

  @AudienceController(audience, 'webhooks', WEBHOOKS_TAG)
  class WebhooksOfAudienceController {
    constructor(
      private readonly endpoints: WebhookEndpointsService,
      private readonly secrets: WebhookSecretsService,
    ) {}

    @Get()
    @Operation({
      id: `list${own}Webhooks`,
      summary: `List ${isOwn ? 'your' : 'the'} webhook endpoints`,
      description: `Lists the endpoints of ${isOwn ? 'your client' : 'one or all clients'}, oldest first, without their secrets.`,
      responses: pageOf(WebhookEndpointDto, 'WebhookEndpoints', 'A page of endpoints', {
        isCounted: true,
      }),
    })
    @ApiErrors(...(isOwn ? errors : [client_not_found]))
    list(
      @Query() @OfClass(listQuery) query: WebhookEndpointsQuery,
      @CurrentRequester(audience) by: Requester,
      @Paged() pager: Pager,
    ): Promise<WebhookEndpointDto[]> {
      const { client, delivery, state } = query;
      const filter = { client: by.clientId ?? client, delivery, state };
      return pager.respond(query, (page) => this.endpoints.list(page, filter));
    }

    @Post()
    @Operation({
      id: `create${own}Webhook`,
      summary: 'Create a webhook endpoint',
      description:
        `Creates an endpoint for ${isOwn ? 'your' : 'a'} client. It receives its events in messages signed with the secret in the response. ` +
        'A key can subscribe it only to events for which the key has the scope.',
      responses: {
        status: 201,
        description: 'The endpoint with its secret, which is shown only in this response',
        type: WebhookEndpointWithSecretDto,
        location: endpointAddress,
      },
    })
    @Header('Cache-Control', 'no-store')
    @ApiErrors(
      ...(isOwn ? errors : [client_not_found]),
      event_scope_not_held,
      webhook_endpoint_limit_reached,
      ...lockErrors,
      ...limitErrors,
    )
    create(
      @Body() @OfClass(newEndpoint) input: NewWebhookEndpointDto,
      @CurrentRequester(audience) by: Requester,
    ): Promise<WebhookEndpointWithSecretDto> {
      return this.endpoints.create(input, by);
    }

    @Get(':endpointId')
    @Operation({
      id: `get${own}Webhook`,
      summary: 'Show a webhook endpoint',
      description: `Shows an endpoint${isOwn ? ' of your client' : ''}, without its secret, whether it is failing, and the number of waiting messages.`,
      responses: { status: 200, description: 'The endpoint', type: WebhookEndpointStateDto },
    })
    @ApiErrors(...errors, webhook_endpoint_not_found)
    get(
      @Param() { endpointId }: WebhookEndpointParams,
      @CurrentRequester(audience) by: Requester,
    ): Promise<WebhookEndpointStateDto> {
      return this.endpoints.get(endpointId, by);
    }

    @Patch(':endpointId')
    @Operation({
      id: `update${own}Webhook`,
      summary: 'Update, disable or enable a webhook endpoint',
      description:
        'Updates the given fields. A disabled endpoint receives no messages. Events that occur while it is disabled are never sent to it. ' +
        'When it is enabled again, it immediately receives the messages that were waiting when it was disabled, except a message ' +
        'that had failed permanently. `{"enabled": true}` has no effect on an endpoint that is enabled but failing. To retry such an ' +
        'endpoint, call `POST …/retry`.',
      responses: { status: 200, description: 'The updated endpoint', type: WebhookEndpointDto },
    })
    @ApiErrors(...errors, event_scope_not_held, ...lockErrors, webhook_endpoint_not_found, ...limitErrors)
    update(
      @Param() { endpointId }: WebhookEndpointParams,
      @Body() changes: WebhookEndpointChangesDto,
      @CurrentRequester(audience) by: Requester,
    ): Promise<WebhookEndpointDto> {
      return this.endpoints.update(endpointId, changes, by);
    }

    @Delete(':endpointId')
    @Operation({
      id: `delete${own}Webhook`,
      summary: 'Delete a webhook endpoint',
      description: 'Deletes an endpoint and its log. Waiting messages are not sent.',
      responses: { status: 200, description: 'The deleted endpoint', type: WebhookEndpointDto },
    })
    @ApiErrors(...errors, ...lockErrors, webhook_endpoint_not_found)
    delete(
      @Param() { endpointId }: WebhookEndpointParams,
      @CurrentRequester(audience) by: Requester,
    ): Promise<WebhookEndpointDto> {
      return this.endpoints.delete(endpointId, by);
    }

    @Post(':endpointId/rotate-secret')
    @Operation({
      id: `rotate${own}WebhookSecret`,
      summary: 'Rotate the secret of a webhook endpoint',
      description:
        'Creates a new secret. During the grace period, messages are signed with both secrets, so that the receiver can switch to the new ' +
        'secret. The key needs the scopes of the endpoint’s events.',
      responses: {
        status: 200,
        description: 'The endpoint with its new secret, which is shown only in this response',
        type: WebhookEndpointWithSecretDto,
      },
    })
    @ApiBody({ type: WebhookSecretRotationDto, required: false })
    @Header('Cache-Control', 'no-store')
    @ApiErrors(
      ...errors,
      event_scope_not_held,
      webhook_endpoint_not_found,
      webhook_secret_limit_reached,
      ...limitErrors,
    )
    rotateSecret(
      @Param() { endpointId }: WebhookEndpointParams,
      @Body() { grace }: WebhookSecretRotationDto,
      @CurrentRequester(audience) by: Requester,
    ): Promise<WebhookEndpointWithSecretDto> {
      return this.secrets.rotate(endpointId, grace, by);
    }
  }
  return WebhooksOfAudienceController;
}
