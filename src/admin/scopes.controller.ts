import { Controller, Get } from '@nestjs/common';
import { declaredScopes } from '../auth/clients/scopes.js';
import { RequireScopes } from '../auth/auth.decorators.js';
import { Operation, Tag } from '../http/operation.decorator.js';
import { ADMIN_SCOPE } from './admin.scopes.js';
import { ScopeDto } from './scope.dto.js';

/** The scopes that keys can hold, over HTTP. */
@Tag('Keys', 'The API keys of clients.')
@RequireScopes(ADMIN_SCOPE)
@Controller('admin/scopes')
export class ScopesController {
  @Get()
  @Operation({
    id: 'listScopes',
    summary: 'List the scopes',
    description:
      'Lists every scope that a key can hold, by name: those of the service and of all its features.',
    answers: { status: 200, description: 'The scopes', arrayOf: ScopeDto, schemaName: 'Scopes' },
  })
  list(): ScopeDto[] {
    return declaredScopes().map(({ name, description, grantedByDefault }) => {
      return { name, description, grantedByDefault };
    });
  }
}
