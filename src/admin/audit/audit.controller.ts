import { Controller, Get, Query } from '@nestjs/common';
import { AuditService } from '../auth/audit/audit.service.js';
import { RequireScopes } from '../auth/auth.decorators.js';
import { NEXT_PAGE, Operation, Tag } from '../http/operation.decorator.js';
import { Paged, type Pager } from '../http/paging/pager.js';
import { ADMIN_SCOPE } from './admin.scopes.js';
import { AuditQuery } from './dto/inputs.js';
import { AuditEntryDto, toAuditEntryDto } from './dto/audit-entry.dto.js';

/** The audit trail, over HTTP. */
@Tag('Audit', 'Who changed what, when, and from where.')
@RequireScopes(ADMIN_SCOPE)
@Controller('admin/audit')
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get()
  @Operation({
    id: 'listAudit',
    summary: 'List the audit trail',
    description: 'Lists what was changed of clients, keys and webhook endpoints, latest first.',
    answers: {
      status: 200,
      description: 'A page of changes',
      arrayOf: AuditEntryDto,
      schemaName: 'AuditEntries',
      optionalHeaders: NEXT_PAGE,
    },
  })
  async list(@Query() query: AuditQuery, @Paged() pager: Pager): Promise<AuditEntryDto[]> {
    const { client, key } = query;
    const filter = {
      ...(client === undefined ? {} : { clientId: client }),
      ...(key === undefined ? {} : { keyId: key }),
    };
    return (await pager.answer(query, (page) => this.audit.list(page, filter))).map(toAuditEntryDto);
  }
}
