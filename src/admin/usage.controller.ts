import { Get, Query } from '@nestjs/common';
import { RequestHistory } from '../auth/usage/request-history.js';
import { UsageService } from '../auth/usage/usage.service.js';
import { AudienceController } from '../http/declarations/audience.js';
import { Operation, pageOf } from '../http/declarations/operation.decorator.js';
import { Paged, type Pager } from '../http/paging/pager.js';
import { OPERATORS } from './admin.scopes.js';
import { ClientUsageDto, toClientUsageDto } from './dto/client-usage.dto.js';
import { RequestsQuery, UsageQuery } from './dto/inputs.js';
import { RefusedRequestDto, toRefusedRequestDto } from './dto/refused-request.dto.js';

/** Usage and last errors of clients, over HTTP. */
@AudienceController(OPERATORS, '', ['Usage', 'Usage of clients.'])
export class UsageController {
  constructor(
    private readonly usage: UsageService,
    private readonly history: RequestHistory,
  ) {}

  @Get('usage')
  @Operation({
    id: 'listUsage',
    summary: 'List the usage of all clients',
    description:
      'Lists clients like `listClients`, each with its current minute and day, bans, last use, recent days, outcomes of its requests, and ' +
      'calls to deprecated operations.',
    responses: pageOf(ClientUsageDto, 'ClientUsages', 'A page of clients and their usage', {
      isCounted: true,
    }),
  })
  async list(@Query() query: UsageQuery, @Paged() pager: Pager): Promise<ClientUsageDto[]> {
    const found = await pager.respond(query, (page) => this.usage.list(page, query.days, query));
    return found
      .filter(({ usage }) => !query.deprecated || usage.deprecatedCalls.length > 0)
      .map(({ client, usage }) => toClientUsageDto(client, usage));
  }

  @Get('requests')
  @Operation({
    id: 'listRefusedRequests',
    summary: 'List the last errors of clients',
    description:
      'Lists recent requests that returned an error, up to 200 per client, most recently stored first. Each instance stores its entries once a second.',
    responses: pageOf(RefusedRequestDto, 'RefusedRequests', 'A page of requests'),
  })
  async listRequests(@Query() query: RequestsQuery, @Paged() pager: Pager): Promise<RefusedRequestDto[]> {
    const { client: clientId, requestId, code, operation, outcome } = query;
    const filter = { clientId, requestId, code, operation, outcome };
    return (await pager.respond(query, (page) => this.history.errors(page, filter))).map(toRefusedRequestDto);
  }
}
