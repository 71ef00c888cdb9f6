import { Controller, Get, Query } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { CLIENTS_ERRORS } from '../auth/clients/clients.errors.js';
import { ApiKeysService } from '../auth/clients/api-keys.service.js';
import { ClientsService } from '../auth/clients/clients.service.js';
import { RequestHistory } from '../auth/usage/request-history.js';
import { UsageService } from '../auth/usage/usage.service.js';
import { RequireScopes } from '../auth/auth.decorators.js';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { ApiErrors } from '../core/errors/api-errors.decorator.js';
import { ApiKeyStateDto, toApiKeyStateDto } from '../admin/dto/api-key.dto.js';
import { ClientDetailsDto, toClientUsageDto } from '../admin/dto/client-usage.dto.js';
import { ClientDto, toClientDto } from '../admin/dto/client.dto.js';
import { DaysQuery, OwnRequestsQuery } from '../admin/dto/inputs.js';
import { RefusedRequestDto, toRefusedRequestDto } from '../admin/dto/refused-request.dto.js';
import { Operation, Tag, pageOf } from '../http/declarations/operation.decorator.js';
import { Paged, type Pager } from '../http/paging/pager.js';
import { Uncounted } from '../throttling/uncounted.decorator.js';
import { READ_LIMIT, accountHolderOf } from './account.audience.js';

/** The sender of a request. */
@ApiSchema({ name: 'Account', description: 'The client, and the key that was sent.' })
class AccountDto {
  @ApiProperty({ type: ClientDto, description: 'The client with its plan and limits' })
  client!: ClientDto;

  @ApiProperty({ type: ApiKeyStateDto, description: 'The key of this request' })
  key!: ApiKeyStateDto;
}

/** The caller's account and usage. Every key can read them without a scope, even if its quota is used up or it is banned. */
@Tag('Account', 'Your client, its key and its usage.')
@RequireScopes()
@Uncounted(READ_LIMIT)
@Controller('account')
export class AccountController {
  constructor(
    private readonly clients: ClientsService,
    private readonly keys: ApiKeysService,
    private readonly usage: UsageService,
    private readonly history: RequestHistory,
  ) {}

  @Get()
  @Operation({
    id: 'getAccount',
    summary: 'Show your client and key',
    description:
      'Shows the client of the key that you send, with its plan and limits, and the key. Needs no scope.',
    responses: { status: 200, description: 'The client and the key', type: AccountDto },
  })
  @ApiErrors(CLIENTS_ERRORS.no_account)
  async get(@CurrentCaller() caller: Caller | undefined): Promise<AccountDto> {
    const { clientId, keyId } = accountHolderOf(caller);
    const client = await this.clients.get(clientId);
    const key = await this.keys.get(keyId);
    return {
      client: toClientDto(client, this.clients.limitsOf(client)),
      key: toApiKeyStateDto(key, await this.usage.bannedUntil(key)),
    };
  }

  @Get('usage')
  @Operation({
    id: 'getAccountUsage',
    summary: 'Show your usage',
    description:
      'Shows the current minute and day, past minutes and days, outcomes of requests, calls to deprecated operations, and banned keys of the ' +
      'client. ' +
      'Needs no scope.',
    responses: { status: 200, description: 'The client and its usage', type: ClientDetailsDto },
  })
  @ApiErrors(CLIENTS_ERRORS.no_account)
  async getUsage(
    @Query() { days }: DaysQuery,
    @CurrentCaller() caller: Caller | undefined,
  ): Promise<ClientDetailsDto> {
    const client = await this.clients.get(accountHolderOf(caller).clientId);
    return toClientUsageDto(client, await this.usage.of(client, days));
  }

  @Get('requests')
  @Operation({
    id: 'listOwnRefusedRequests',
    summary: 'List your last errors',
    description:
      'Lists the client’s recent requests that returned an error, up to 200, most recently stored first. Each instance stores its entries once a second. Needs no scope.',
    responses: pageOf(RefusedRequestDto, 'RefusedRequests', 'A page of requests'),
  })
  @ApiErrors(CLIENTS_ERRORS.no_account)
  async getRequests(
    @Query() query: OwnRequestsQuery,
    @CurrentCaller() caller: Caller | undefined,
    @Paged() pager: Pager,
  ): Promise<RefusedRequestDto[]> {
    const of = { clientId: accountHolderOf(caller).clientId, requestId: query.requestId };
    return (await pager.respond(query, (page) => this.history.errors(page, of))).map(toRefusedRequestDto);
  }
}
