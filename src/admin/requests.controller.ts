import { Get, Query } from '@nestjs/common';
import { RequestHistory } from '../auth/clients/request-history.js';
import { AudienceController } from '../http/audience.js';
import { Operation, pageOf } from '../http/operation.decorator.js';
import { Paged, type Pager } from '../http/paging/pager.js';
import { OPERATORS } from './admin.scopes.js';
import { RequestsQuery } from './dto/inputs.js';
import { RefusedRequestDto, toRefusedRequestDto } from './dto/refused-request.dto.js';

/** The last errors of clients, over HTTP. */
@AudienceController(OPERATORS, 'requests', ['Usage', 'Usage of clients.'])
export class RequestsController {
  constructor(private readonly history: RequestHistory) {}

  @Get()
  @Operation({
    id: 'listRefusedRequests',
    summary: 'List the last errors of clients',
    description:
      'Lists the last 200 requests of each client that got an error, latest first, with a delay of up to a second.',
    answers: pageOf(RefusedRequestDto, 'RefusedRequests', 'A page of requests'),
  })
  async list(@Query() query: RequestsQuery, @Paged() pager: Pager): Promise<RefusedRequestDto[]> {
    const filter = { clientId: query.client, requestId: query.requestId };
    return (await pager.answer(query, (page) => this.history.errors(page, filter))).map(toRefusedRequestDto);
  }
}
