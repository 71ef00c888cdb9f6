import { Get, Param, Post } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ApiKeysService } from '../../auth/clients/api-keys.service.js';
import type { Requester } from '../../auth/clients/audited-changes.js';
import { CLIENTS_ERRORS } from '../../auth/clients/clients.errors.js';
import { declaredScopes } from '../../auth/scopes.js';
import { ApiErrors } from '../../core/errors/api-errors.decorator.js';
import { AudienceController } from '../../http/declarations/audience.js';
import { CurrentRequester } from '../../http/declarations/current-requester.js';
import { Operation } from '../../http/declarations/operation.decorator.js';
import { OPERATORS } from '../admin.scopes.js';
import { ApiKeyDto, toApiKeyDto } from '../dto/api-key.dto.js';
import { KeyParams } from '../dto/inputs.js';

/** A scope that keys can hold, over HTTP. */
@ApiSchema({ name: 'Scope', description: 'A permission that a key can have.' })
class ScopeDto {
  @ApiProperty({ type: 'string', example: 'account' })
  name!: string;

  @ApiProperty({
    type: 'string',
    description: 'Description of the permission',
    example: 'Issue, rotate and revoke keys.',
  })
  description!: string;

  @ApiProperty({ description: 'Whether a key gets this scope when the request names no scopes' })
  grantedByDefault!: boolean;
}

/** Key operations only for operators, over HTTP: lift bans, and list the scopes that keys can hold. */
@AudienceController(OPERATORS, '', ['Keys', 'The API keys of clients.'])
export class ScopesAndBansController {
  constructor(private readonly keys: ApiKeysService) {}

  @Post('keys/:keyId/unban')
  @Operation({
    id: 'unbanKey',
    summary: 'Lift the ban of a key',
    description: 'Lifts the ban of a key and resets its strikes.',
    responses: { status: 200, description: 'The key', type: ApiKeyDto },
  })
  @ApiErrors(CLIENTS_ERRORS.key_not_found)
  async unban(@Param() { keyId }: KeyParams, @CurrentRequester() by: Requester): Promise<ApiKeyDto> {
    return toApiKeyDto(await this.keys.unban(keyId, by));
  }

  @Get('scopes')
  @Operation({
    id: 'listScopes',
    summary: 'List the scopes',
    description: 'Lists all scopes that keys can have, sorted by name.',
    responses: { status: 200, description: 'The scopes', arrayOf: ScopeDto, schemaName: 'Scopes' },
  })
  listScopes(): ScopeDto[] {
    return declaredScopes().map(({ name, description, grantedByDefault }) => {
      return { name, description, grantedByDefault };
    });
  }
}
