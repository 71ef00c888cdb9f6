import { Get } from '@nestjs/common';
import { declaredScopes } from '../auth/clients/scopes.js';
import { AudienceController } from '../http/audience.js';
import { Operation } from '../http/operation.decorator.js';
import { OPERATORS } from './admin.scopes.js';
import { ScopeDto } from './scope.dto.js';

/** The scopes that keys can hold, over HTTP. */
@AudienceController(OPERATORS, 'scopes', ['Keys', 'The API keys of clients.'])
export class ScopesController {
  @Get()
  @Operation({
    id: 'listScopes',
    summary: 'List the scopes',
    description: 'Lists all scopes that keys can have, by name.',
    answers: { status: 200, description: 'The scopes', arrayOf: ScopeDto, schemaName: 'Scopes' },
  })
  list(): ScopeDto[] {
    return declaredScopes().map(({ name, description, grantedByDefault }) => {
      return { name, description, grantedByDefault };
    });
  }
}
