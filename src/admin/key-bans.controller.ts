import { Param, Post } from '@nestjs/common';
import { CLIENTS_ERRORS } from '../auth/clients/clients.errors.js';
import { ApiKeysService } from '../auth/clients/api-keys.service.js';
import type { Operator } from '../auth/clients/audited-changes.js';
import { ApiErrors } from '../core/errors/api-errors.decorator.js';
import { CurrentOperator } from '../http/current-operator.js';
import { AudienceController } from '../http/audience.js';
import { Operation } from '../http/operation.decorator.js';
import { OPERATORS } from './admin.scopes.js';
import { ApiKeyDto, toApiKeyDto } from './dto/api-key.dto.js';
import { KeyParams } from './dto/inputs.js';

/** The bans of keys over HTTP; only operators lift them. */
@AudienceController(OPERATORS, 'keys', ['Keys', 'The API keys of clients.'])
export class KeyBansController {
  constructor(private readonly keys: ApiKeysService) {}

  @Post(':keyId/unban')
  @Operation({
    id: 'unbanKey',
    summary: 'Lift the ban of a key',
    description: 'Lifts the ban of a key and resets its strikes.',
    answers: { status: 200, description: 'The key', type: ApiKeyDto },
  })
  @ApiErrors(CLIENTS_ERRORS.key_not_found)
  async unban(@Param() { keyId }: KeyParams, @CurrentOperator() by: Operator): Promise<ApiKeyDto> {
    return toApiKeyDto(await this.keys.unban(keyId, by));
  }
}
