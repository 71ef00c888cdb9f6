import { Body, Delete, Get, Header, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import type { Response } from 'express';
import { DataSource } from 'typeorm';
import { CLIENTS_ERRORS } from '../auth/clients/clients.errors.js';
import type { Requester } from '../auth/clients/audited-changes.js';
import type { Client } from '../auth/clients/client.entity.js';
import { ClientsService } from '../auth/clients/clients.service.js';
import { UsageService } from '../auth/usage/usage.service.js';
import { ApiError } from '../core/errors/api-error.js';
import { HTTP_ERRORS } from '../core/errors/http.errors.js';
import { KeyIssuingService } from '../auth/clients/key-issuing.service.js';
import { toIssuedKeyDto } from './dto/api-key.dto.js';
import { ApiErrors } from '../core/errors/api-errors.decorator.js';
import { AudienceController } from '../http/declarations/audience.js';
import { IfMatch } from '../http/replies/if-match.decorator.js';
import { type Precondition, entityTagOf } from '../http/replies/precondition.js';
import { Operation, pageOf } from '../http/declarations/operation.decorator.js';
import { Paged, type Pager } from '../http/paging/pager.js';
import { OPERATORS } from './admin.scopes.js';
import { CurrentRequester } from '../http/declarations/current-requester.js';
import { ClientData } from './client-data.js';
import { ClientParams, ClientsQuery, DaysQuery, DeletionQuery, ForceQuery } from './dto/inputs.js';
import { ClientDetailsDto, toClientUsageDto } from './dto/client-usage.dto.js';
import {
  CLIENT_CHANGES_EXAMPLES,
  ClientChangesDto,
  ClientDto,
  ErasedClientDto,
  CreatedClientDto,
  NEW_CLIENT_EXAMPLES,
  NewClientDto,
  toClientDto,
} from './dto/client.dto.js';

const {
  client_not_found,
  client_already_suspended,
  client_not_deleted,
  client_not_suspended,
  last_key_with_scope,
  scope_not_held,
} = CLIENTS_ERRORS;
const SCOPES_OF_NO_KEY = {
  field: 'scopes',
  code: 'needs_issue_key',
  message: 'This field requires `issueKey`, which creates the key.',
};

/** The clients, over HTTP. */
@AudienceController(OPERATORS, 'clients', ['Clients', 'Accounts with a plan and API keys.'])
export class ClientsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly issuing: KeyIssuingService,
    private readonly usage: UsageService,
    private readonly data: ClientData,
    private readonly dataSource: DataSource,
  ) {}

  @Get()
  @Operation({
    id: 'listClients',
    summary: 'List clients',
    description:
      'Lists clients, oldest first by default. The list can be filtered by name, plan and state, and sorted.',
    responses: pageOf(ClientDto, 'Clients', 'A page of clients', { isCounted: true }),
  })
  async list(@Query() query: ClientsQuery, @Paged() pager: Pager): Promise<ClientDto[]> {
    const found = await pager.respond(query, (page) => this.clients.list(page, query));
    return found.map((client) => this.shown(client));
  }

  @Post()
  @Operation({
    id: 'createClient',
    summary: 'Create a client',
    description:
      'Creates a client and, optionally, its first key. A client on the enterprise plan requires its own limits.',
    responses: {
      status: 201,
      description: 'The client',
      type: CreatedClientDto,
      location: ({ id }) => `/admin/clients/${id}`,
      headers: { Location: 'Address of the client' },
    },
  })
  @ApiBody({ type: NewClientDto, examples: NEW_CLIENT_EXAMPLES })
  @Header('Cache-Control', 'no-store')
  @ApiErrors(scope_not_held)
  create(
    @Body() { issueKey, scopes, ...input }: NewClientDto,
    @CurrentRequester() by: Requester,
  ): Promise<CreatedClientDto> {
    if (scopes && !issueKey)
      throw new ApiError(HTTP_ERRORS.validation_failed, { details: [SCOPES_OF_NO_KEY] });
    return this.dataSource.transaction(async () => {
      const client = this.shown(await this.clients.create(input, by));
      if (!issueKey) return client;
      const newKey = { clientId: client.id, ...(scopes ? { scopes } : {}) };
      return Object.assign(client, { key: toIssuedKeyDto(await this.issuing.issue(newKey, by)) });
    });
  }

  @Get(':clientId')
  @Operation({
    id: 'getClient',
    summary: 'Show a client',
    description:
      'Shows a client and its usage: the current minute and day, bans, last use, past minutes and days, and the outcomes of its requests.',
    responses: {
      status: 200,
      description: 'The client and its usage',
      type: ClientDetailsDto,
      headers: { ETag: 'Entity tag of the client without its usage, for `If-Match`' },
    },
  })
  // The `ETag` is that of the client, not of this response, whose usage changes with every request.
  @Header('Cache-Control', 'no-store')
  @ApiErrors(client_not_found)
  async get(
    @Param() { clientId }: ClientParams,
    @Query() { days }: DaysQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ClientDetailsDto> {
    const client = await this.clients.get(clientId);
    response.setHeader('ETag', entityTagOf(ClientDto, this.shown(client)));
    return toClientUsageDto(client, await this.usage.of(client, days));
  }

  @Patch(':clientId')
  @Operation({
    id: 'updateClient',
    summary: 'Rename a client or change its plan',
    description:
      'Updates the given fields. The usage of the current windows does not change. With `If-Match`, the request fails if the client has ' +
      'changed since.',
    responses: { status: 200, description: 'The updated client', type: ClientDto, entityTag: true },
  })
  @ApiBody({ type: ClientChangesDto, examples: CLIENT_CHANGES_EXAMPLES })
  @ApiErrors(client_not_found)
  async update(
    @Param() { clientId }: ClientParams,
    @Body() changes: ClientChangesDto,
    @IfMatch({ optional: true }) precondition: Precondition,
    @CurrentRequester() by: Requester,
  ): Promise<ClientDto> {
    const check = (client: Client) => precondition.check(ClientDto, this.shown(client));
    return this.shown(await this.clients.update(clientId, changes, by, check));
  }

  @Post(':clientId/suspend')
  @Operation({
    id: 'suspendClient',
    summary: 'Suspend a client',
    description: 'Refuses all keys of the client with 403 `client_suspended` until it is resumed.',
    responses: { status: 200, description: 'The updated client', type: ClientDto },
  })
  @ApiErrors(client_not_found, client_already_suspended, last_key_with_scope)
  async suspend(
    @Param() { clientId }: ClientParams,
    @Query() query: ForceQuery,
    @CurrentRequester() by: Requester,
  ): Promise<ClientDto> {
    return this.shown(await this.clients.suspend(clientId, query, by));
  }

  @Post(':clientId/resume')
  @Operation({
    id: 'resumeClient',
    summary: 'Resume a client',
    description: 'Accepts the keys of a suspended client again.',
    responses: { status: 200, description: 'The updated client', type: ClientDto },
  })
  @ApiErrors(client_not_found, client_not_suspended)
  async resume(@Param() { clientId }: ClientParams, @CurrentRequester() by: Requester): Promise<ClientDto> {
    return this.shown(await this.clients.resume(clientId, by));
  }

  @Delete(':clientId')
  @Operation({
    id: 'deleteClient',
    summary: 'Delete a client',
    description:
      'Deletes a client with its keys, its webhooks, and its recent errors with their IP addresses. The counts of its requests and the audit ' +
      'trail remain. With `erase`, its names are removed from the audit trail as well; `POST …/erase` does so later.',
    responses: { status: 200, description: 'The deleted client', type: ClientDto },
  })
  @ApiErrors(client_not_found, last_key_with_scope)
  async delete(
    @Param() { clientId }: ClientParams,
    @Query() query: DeletionQuery,
    @CurrentRequester() by: Requester,
  ): Promise<ClientDto> {
    return this.shown(await this.data.delete(clientId, query, by));
  }

  @Get(':clientId/export')
  @Operation({
    id: 'exportClient',
    summary: 'Export the data of a client',
    description:
      'Exports the data stored about a client as one JSON object, without secrets: the client, `keys`, `requests` (counts), `errors`, ' +
      '`webhooks`, `deliveries`, `idempotencyKeys` and `audit`. Quota counters, bans, alerts, waiting events and data of modules are not ' +
      'included. The export counts as one request.',
    responses: { status: 200, description: 'The data', contentType: 'application/json' },
  })
  @Header('Content-Disposition', 'attachment; filename="client.json"')
  @Header('Cache-Control', 'no-store')
  @ApiErrors(client_not_found)
  export(@Param() { clientId }: ClientParams): Promise<AsyncGenerator<string>> {
    return this.data.export(clientId);
  }

  @Post(':clientId/erase')
  @Operation({
    id: 'eraseClient',
    summary: 'Erase a deleted client from the audit trail',
    description:
      'Erases the names, labels and URLs of a deleted client from the audit trail, and the IP addresses of changes made with its keys. The ' +
      'changes, their times and ids remain.',
    responses: { status: 200, description: 'The number of entries', type: ErasedClientDto },
  })
  @ApiErrors(client_not_deleted)
  async erase(
    @Param() { clientId }: ClientParams,
    @CurrentRequester() by: Requester,
  ): Promise<ErasedClientDto> {
    return { id: clientId, entries: await this.data.erase(clientId, by) };
  }

  private shown(client: Client): ClientDto {
    return toClientDto(client, this.clients.limitsOf(client));
  }
}
