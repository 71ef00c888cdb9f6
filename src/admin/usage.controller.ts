import { Get, Query } from '@nestjs/common';
import { UsageService } from '../auth/clients/usage.service.js';
import { AudienceController } from '../http/audience.js';
import { Operation, pageOf } from '../http/operation.decorator.js';
import { Paged, type Pager } from '../http/paging/pager.js';
import { OPERATORS } from './admin.scopes.js';
import { UsageQuery } from './dto/inputs.js';
import { ClientUsageDto, toClientUsageDto } from './dto/client-usage.dto.js';

/** Usage of clients, over HTTP. */
@AudienceController(OPERATORS, 'usage', ['Usage', 'Usage of clients.'])
export class UsageController {
  constructor(private readonly usage: UsageService) {}

  @Get()
  @Operation({
    id: 'listUsage',
    summary: 'List the usage of all clients',
    description:
      'Lists every client, oldest first, with both windows now, bans, last use, its last days, outcomes of its requests, and its calls of deprecated operations.',
    answers: pageOf(ClientUsageDto, 'ClientUsages', 'A page of clients and their usage'),
  })
  async list(@Query() query: UsageQuery, @Paged() pager: Pager): Promise<ClientUsageDto[]> {
    const found = await pager.answer(query, (page) => this.usage.list(page, query.days, query));
    return found.map(({ client, usage }) => toClientUsageDto(client, usage));
  }
}
