import { Get } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { declaredScopes } from '../auth/clients/scopes.js';
import { AudienceController } from '../http/audience.js';
import { Operation } from '../http/operation.decorator.js';
import { OPERATORS } from './admin.scopes.js';

/** A scope that keys can hold, over HTTP. */
@ApiSchema({ name: 'Scope', description: 'A permission that a key can have.' })
class ScopeDto {
  @ApiProperty({ type: 'string', example: 'pets:read' })
  name!: string;

  @ApiProperty({ type: 'string', description: 'What it allows', example: 'List and show animals.' })
  description!: string;

  @ApiProperty({ description: 'Whether a key gets this scope when the request names no scopes' })
  grantedByDefault!: boolean;
}

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
