import { Body, Controller, Delete, Get, Header, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { ACCOUNTS_ERRORS } from '../auth/clients/accounts.errors.js';
import type { Operator } from '../auth/clients/audited-changes.js';
import { RequireScopes } from '../auth/auth.decorators.js';
import { ApiErrors } from '../core/errors/api-errors.decorator.js';
import { CurrentOperator } from './current-operator.js';
import { WebhookEndpointParams, WebhookEndpointsQuery } from './dto/webhook-delivery.dto.js';
import {
  WEBHOOKS_TAG,
  NewWebhookEndpointDto,
  WebhookEndpointChangesDto,
  WebhookEndpointDto,
  WebhookEndpointStateDto,
  WebhookEndpointWithSecretDto,
  WebhookSecretRotationDto,
  toWebhookEndpointDto,
  toWebhookEndpointStateDto,
  toWebhookEndpointWithSecretDto,
} from './dto/webhook-endpoint.dto.js';
import { NEXT_PAGE, Operation, Tag } from '../http/operation.decorator.js';
import { Paged, type Pager } from '../http/paging/pager.js';
import { WEBHOOK_ERRORS } from '../webhooks/endpoints/webhook-endpoints.errors.js';
import { WebhookEndpointsService } from '../webhooks/endpoints/webhook-endpoints.service.js';
import { ADMIN_SCOPE } from './admin.scopes.js';

const { client_not_found } = ACCOUNTS_ERRORS;
const {
  event_scope_not_held,
  webhook_endpoint_limit_reached,

  webhook_endpoint_not_found,
  webhook_secret_limit_reached,
} = WEBHOOK_ERRORS;

const endpointAddress = ({ id }: { readonly id: string }): string => `/admin/webhooks/${id}`;

/** The webhook endpoints of clients, over HTTP. */
@Tag('Webhooks', WEBHOOKS_TAG)
@RequireScopes(ADMIN_SCOPE)
@Controller('admin/webhooks')
export class WebhooksController {
  constructor(private readonly endpoints: WebhookEndpointsService) {}

  @Get()
  @Operation({
    id: 'listWebhooks',
    summary: 'List the webhook endpoints',
    description: 'Lists the endpoints of one client or of all, oldest first, never with their secrets.',
    answers: {
      status: 200,
      description: 'A page of endpoints',
      arrayOf: WebhookEndpointDto,
      schemaName: 'WebhookEndpoints',
      optionalHeaders: NEXT_PAGE,
    },
  })
  @ApiErrors(client_not_found)
  async list(@Query() query: WebhookEndpointsQuery, @Paged() pager: Pager): Promise<WebhookEndpointDto[]> {
    const of = query.client === undefined ? {} : { clientId: query.client };
    return (await pager.answer(query, (page) => this.endpoints.list(page, of))).map(toWebhookEndpointDto);
  }

  @Post()
  @Operation({
    id: 'createWebhook',
    summary: 'Make a webhook endpoint',
    description:
      'Makes an endpoint of a client. It is told of each of its events from now on, with messages that the secret of the ' +
      'answer verifies. A key cannot have it told of what it may not read itself.',
    answers: {
      status: 201,
      description: 'The endpoint, with its secret this once',
      type: WebhookEndpointWithSecretDto,
      location: endpointAddress,
    },
  })
  @Header('Cache-Control', 'no-store')
  @ApiErrors(client_not_found, event_scope_not_held, webhook_endpoint_limit_reached)
  async create(
    @Body() order: NewWebhookEndpointDto,
    @CurrentOperator() by: Operator,
  ): Promise<WebhookEndpointWithSecretDto> {
    return toWebhookEndpointWithSecretDto(await this.endpoints.create(order, by));
  }

  @Get(':endpointId')
  @Operation({
    id: 'getWebhook',
    summary: 'Show a webhook endpoint',
    description: 'Shows an endpoint, never its secret, whether it fails, and how much waits for it.',
    answers: { status: 200, description: 'The endpoint', type: WebhookEndpointStateDto },
  })
  @ApiErrors(webhook_endpoint_not_found)
  async get(@Param() { endpointId }: WebhookEndpointParams): Promise<WebhookEndpointStateDto> {
    const found = await this.endpoints.get(endpointId);
    return toWebhookEndpointStateDto(found, await this.endpoints.waiting(endpointId));
  }

  @Patch(':endpointId')
  @Operation({
    id: 'updateWebhook',
    summary: 'Change, disable or enable a webhook endpoint',
    description:
      'Changes what is named. A disabled endpoint is sent nothing, and what happens meanwhile it never is; enabled again, it goes on ' +
      'with the messages that waited when it was disabled.',
    answers: { status: 200, description: 'The endpoint as it is now', type: WebhookEndpointDto },
  })
  @ApiErrors(event_scope_not_held, webhook_endpoint_not_found)
  async update(
    @Param() { endpointId }: WebhookEndpointParams,
    @Body() changes: WebhookEndpointChangesDto,
    @CurrentOperator() by: Operator,
  ): Promise<WebhookEndpointDto> {
    return toWebhookEndpointDto(await this.endpoints.update(endpointId, changes, by, 'operator'));
  }

  @Delete(':endpointId')
  @Operation({
    id: 'deleteWebhook',
    summary: 'Delete a webhook endpoint',
    description: 'Deletes an endpoint with its log. What it was not sent yet, it never is.',
    answers: { status: 200, description: 'The endpoint as it was', type: WebhookEndpointDto },
  })
  @ApiErrors(webhook_endpoint_not_found)
  async delete(
    @Param() { endpointId }: WebhookEndpointParams,
    @CurrentOperator() by: Operator,
  ): Promise<WebhookEndpointDto> {
    return toWebhookEndpointDto(await this.endpoints.delete(endpointId, by));
  }

  @Post(':endpointId/rotate-secret')
  @Operation({
    id: 'rotateWebhookSecret',
    summary: 'Rotate the secret of a webhook endpoint',
    description:
      'Makes a new secret. Messages are signed with both for the grace, so that receivers can go over to the new one.',
    answers: {
      status: 200,
      description: 'The endpoint, with its new secret this once',
      type: WebhookEndpointWithSecretDto,
    },
  })
  @ApiBody({ type: WebhookSecretRotationDto, required: false })
  @Header('Cache-Control', 'no-store')
  @ApiErrors(webhook_endpoint_not_found, webhook_secret_limit_reached)
  async rotateSecret(
    @Param() { endpointId }: WebhookEndpointParams,
    @Body() { grace }: WebhookSecretRotationDto,
    @CurrentOperator() by: Operator,
  ): Promise<WebhookEndpointWithSecretDto> {
    return toWebhookEndpointWithSecretDto(await this.endpoints.rotateSecret(endpointId, grace, by));
  }
}
