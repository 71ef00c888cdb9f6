import { Body, Controller, Delete, Get, Header, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { ACCOUNTS_ERRORS } from '../auth/clients/accounts.errors.js';
import type { Operator } from '../auth/clients/audited-changes.js';
import { RequireScopes } from '../auth/auth.decorators.js';
import { type Caller, CurrentClient } from '../auth/caller.js';
import { ApiErrors } from '../core/errors/api-errors.decorator.js';
import { CurrentOperator } from '../admin/current-operator.js';
import { WebhookEndpointParams } from '../admin/dto/webhook-delivery.dto.js';
import {
  WEBHOOKS_TAG,
  NewOwnWebhookEndpointDto,
  WebhookEndpointChangesDto,
  WebhookEndpointDto,
  WebhookEndpointStateDto,
  WebhookEndpointWithSecretDto,
  WebhookSecretRotationDto,
  toWebhookEndpointDto,
  toWebhookEndpointStateDto,
  toWebhookEndpointWithSecretDto,
} from '../admin/dto/webhook-endpoint.dto.js';
import { NEXT_PAGE, Operation, Tag } from '../http/operation.decorator.js';
import { PageQuery, Paged, type Pager } from '../http/paging/pager.js';
import { Uncounted } from '../throttling/uncounted.decorator.js';
import { WEBHOOK_ERRORS } from '../webhooks/endpoints/webhook-endpoints.errors.js';
import { WebhookEndpointsService } from '../webhooks/endpoints/webhook-endpoints.service.js';
import { WEBHOOKS_BOUND } from './account.bounds.js';
import { accountHolderOf } from './account-holder.js';
import { ACCOUNT_SCOPE } from './account.scopes.js';
import { KeyLimits } from './key-limits.js';

const { no_account, key_change_limit_reached } = ACCOUNTS_ERRORS;
const {
  event_scope_not_held,
  webhook_endpoint_limit_reached,
  webhook_endpoint_locked,
  webhook_endpoint_not_found,
  webhook_secret_limit_reached,
} = WEBHOOK_ERRORS;

const endpointAddress = ({ id }: { readonly id: string }): string => `/account/webhooks/${id}`;

/** The webhook endpoints of the caller's own client. */
@Tag('Webhooks', WEBHOOKS_TAG)
@RequireScopes(ACCOUNT_SCOPE)
@Uncounted(WEBHOOKS_BOUND)
@Controller('account/webhooks')
export class OwnWebhooksController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly limits: KeyLimits,
  ) {}

  @Get()
  @Operation({
    id: 'listOwnWebhooks',
    summary: 'List your webhook endpoints',
    description: 'Lists the endpoints of your client, oldest first, never with their secrets.',
    answers: {
      status: 200,
      description: 'A page of endpoints',
      arrayOf: WebhookEndpointDto,
      schemaName: 'WebhookEndpoints',
      optionalHeaders: NEXT_PAGE,
    },
  })
  @ApiErrors(no_account)
  async list(
    @Query() query: PageQuery,
    @CurrentClient() caller: Caller | undefined,
    @Paged() pager: Pager,
  ): Promise<WebhookEndpointDto[]> {
    const holder = accountHolderOf(caller);
    return (await pager.answer(query, (page) => this.endpoints.list(page, holder))).map(toWebhookEndpointDto);
  }

  @Post()
  @Operation({
    id: 'createOwnWebhook',
    summary: 'Make a webhook endpoint',
    description:
      'Makes an endpoint of your client. It is told of each of its events from now on, with messages that the secret of the ' +
      'answer verifies. A key cannot have it told of what it may not read itself.',
    answers: {
      status: 201,
      description: 'The endpoint, with its secret this once',
      type: WebhookEndpointWithSecretDto,
      location: endpointAddress,
    },
  })
  @Header('Cache-Control', 'no-store')
  @ApiErrors(no_account, event_scope_not_held, webhook_endpoint_limit_reached, key_change_limit_reached)
  async create(
    @Body() { url, events, label }: NewOwnWebhookEndpointDto,
    @CurrentClient() caller: Caller | undefined,
    @CurrentOperator() by: Operator,
  ): Promise<WebhookEndpointWithSecretDto> {
    const { clientId } = accountHolderOf(caller);
    return toWebhookEndpointWithSecretDto(
      await this.limits.changing(clientId, () =>
        this.endpoints.create({ clientId, url, events, label: label ?? null }, by),
      ),
    );
  }

  @Get(':endpointId')
  @Operation({
    id: 'getOwnWebhook',
    summary: 'Show a webhook endpoint',
    description:
      'Shows an endpoint of your client, never its secret, whether it fails, and how much waits for it.',
    answers: { status: 200, description: 'The endpoint', type: WebhookEndpointStateDto },
  })
  @ApiErrors(no_account, webhook_endpoint_not_found)
  async get(
    @Param() { endpointId }: WebhookEndpointParams,
    @CurrentClient() caller: Caller | undefined,
  ): Promise<WebhookEndpointStateDto> {
    const found = await this.endpoints.get(endpointId, accountHolderOf(caller));
    return toWebhookEndpointStateDto(found, await this.endpoints.waiting(endpointId));
  }

  @Patch(':endpointId')
  @Operation({
    id: 'updateOwnWebhook',
    summary: 'Change, disable or enable a webhook endpoint',
    description:
      'Changes what is named. A disabled endpoint is sent nothing, and what happens meanwhile it never is; enabled again, it goes on ' +
      'with the messages that waited when it was disabled.',
    answers: { status: 200, description: 'The endpoint as it is now', type: WebhookEndpointDto },
  })
  @ApiErrors(
    no_account,
    event_scope_not_held,
    webhook_endpoint_locked,
    webhook_endpoint_not_found,
    key_change_limit_reached,
  )
  async update(
    @Param() { endpointId }: WebhookEndpointParams,
    @Body() changes: WebhookEndpointChangesDto,
    @CurrentClient() caller: Caller | undefined,
    @CurrentOperator() by: Operator,
  ): Promise<WebhookEndpointDto> {
    return toWebhookEndpointDto(
      await this.limits.changing(accountHolderOf(caller).clientId, () =>
        this.endpoints.update(endpointId, changes, by, 'owner', accountHolderOf(caller)),
      ),
    );
  }

  @Delete(':endpointId')
  @Operation({
    id: 'deleteOwnWebhook',
    summary: 'Delete a webhook endpoint',
    description: 'Deletes an endpoint with its log. What it was not sent yet, it never is.',
    answers: { status: 200, description: 'The endpoint as it was', type: WebhookEndpointDto },
  })
  @ApiErrors(no_account, webhook_endpoint_not_found)
  async delete(
    @Param() { endpointId }: WebhookEndpointParams,
    @CurrentClient() caller: Caller | undefined,
    @CurrentOperator() by: Operator,
  ): Promise<WebhookEndpointDto> {
    return toWebhookEndpointDto(await this.endpoints.delete(endpointId, by, accountHolderOf(caller)));
  }

  @Post(':endpointId/rotate-secret')
  @Operation({
    id: 'rotateOwnWebhookSecret',
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
  @ApiErrors(no_account, webhook_endpoint_not_found, webhook_secret_limit_reached, key_change_limit_reached)
  async rotateSecret(
    @Param() { endpointId }: WebhookEndpointParams,
    @Body() { grace }: WebhookSecretRotationDto,
    @CurrentClient() caller: Caller | undefined,
    @CurrentOperator() by: Operator,
  ): Promise<WebhookEndpointWithSecretDto> {
    return toWebhookEndpointWithSecretDto(
      await this.limits.changing(accountHolderOf(caller).clientId, () =>
        this.endpoints.rotateSecret(endpointId, grace, by, accountHolderOf(caller)),
      ),
    );
  }
}
