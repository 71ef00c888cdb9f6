import { Get, Header, Query } from '@nestjs/common';
import { AudienceController } from '../../http/declarations/audience.js';
import { Operation, pageOf } from '../../http/declarations/operation.decorator.js';
import { Paged, type Pager } from '../../http/paging/pager.js';
import { OPERATORS } from '../admin.scopes.js';
import { AuditListing } from './audit-listing.js';
import { AuditFilters, AuditQuery } from '../dto/inputs.js';
import { AuditEntryDto } from '../dto/audit-entry.dto.js';

/** The audit trail, over HTTP. */
@AudienceController(OPERATORS, 'audit', ['Audit', 'All changes, with their operators, times and addresses.'])
export class AuditController {
  constructor(private readonly audit: AuditListing) {}

  @Get()
  @Operation({
    id: 'listAudit',
    summary: 'List the audit trail',
    description: 'Lists changes to clients, keys, webhook endpoints and durable events, latest first.',
    responses: pageOf(AuditEntryDto, 'AuditEntries', 'A page of changes'),
  })
  list(@Query() query: AuditQuery, @Paged() pager: Pager): Promise<AuditEntryDto[]> {
    return pager.respond(query, (page) => this.audit.page(page, query));
  }

  @Get('export')
  @Operation({
    id: 'exportAudit',
    summary: 'Export the audit trail',
    description:
      'Exports all matching changes as CSV (RFC 4180), latest first. The export counts as one request.',
    responses: { status: 200, description: 'The changes', contentType: 'text/csv' },
  })
  @Header('Content-Disposition', 'attachment; filename="audit.csv"')
  export(@Query() filters: AuditFilters): AsyncGenerator<string> {
    return this.audit.csv(filters);
  }
}
