import { Get, Query } from '@nestjs/common';
import { AudienceController } from '../../http/declarations/audience.js';
import { Operation } from '../../http/declarations/operation.decorator.js';
import { OPERATORS } from '../admin.scopes.js';
import { FoundDto, OverviewDto, SearchQuery } from './overview.dto.js';
import { OverviewService } from './overview.service.js';

/** An overview and a search for operators, over HTTP. */
@AudienceController(OPERATORS, '', ['Overview', 'An overview of the service, and a search.'])
export class OverviewController {
  constructor(private readonly overview: OverviewService) {}

  @Get('overview')
  @Operation({
    id: 'getOverview',
    summary: 'Show an overview of the service',
    description:
      'Shows the requests of the last hour and of today, the number of clients that are refused, near their limit, banned or suspended, or ' +
      'that have expiring keys or failing webhooks, and which deprecated operations are called. Its cost does not depend on the number of ' +
      'clients.',
    responses: { status: 200, description: 'The overview', type: OverviewDto },
  })
  get(): Promise<OverviewDto> {
    return this.overview.get();
  }

  @Get('search')
  @Operation({
    id: 'search',
    summary: 'Find clients, keys and requests',
    description:
      'Finds clients by name or id, keys by id or first characters, and recent errors by `X-Request-Id`, at most 10 of each.',
    responses: { status: 200, description: 'The search results', arrayOf: FoundDto, schemaName: 'FoundList' },
  })
  search(@Query() { text }: SearchQuery): Promise<FoundDto[]> {
    return this.overview.search(text);
  }
}
