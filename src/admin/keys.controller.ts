import { Body, Controller, Get, Header, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import type { Response } from 'express';
import { ACCOUNTS_ERRORS } from '../auth/clients/accounts.errors.js';
import { ApiKeysService } from '../auth/clients/api-keys.service.js';
import type { Operator } from '../auth/clients/audited-changes.js';
import { KeyIssuingService } from '../auth/clients/key-issuing.service.js';
import { UsageService } from '../auth/clients/usage.service.js';
import { RequireScopes } from '../auth/auth.decorators.js';
import { ApiErrors } from '../core/errors/api-errors.decorator.js';
import { NEXT_PAGE, Operation, Tag } from '../http/operation.decorator.js';
import { Paged, type Pager } from '../http/paging/pager.js';
import { ADMIN_SCOPE } from './admin.scopes.js';
import { CurrentOperator } from './current-operator.js';
import { ForceQuery, KeyParams, KeysQuery } from './dto/inputs.js';
import {
  ApiKeyDto,
  ApiKeyStateDto,
  IssuedKeyDto,
  KeyChangesDto,
  KeyRotationDto,
  NewKeyDto,
  ROTATION_EXAMPLE,
  toApiKeyDto,
  toApiKeyStateDto,
  toIssuedKeyDto,
} from './dto/api-key.dto.js';

const {
  client_not_found,
  key_not_found,
  key_already_revoked,
  key_already_expired,
  key_already_rotated,
  last_key_with_scope,
  scope_not_held,
} = ACCOUNTS_ERRORS;

/** The keys of clients, over HTTP. */
@Tag('Keys', 'The API keys of clients.')
@RequireScopes(ADMIN_SCOPE)
@Controller('admin/keys')
export class KeysController {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly issuing: KeyIssuingService,
    private readonly usage: UsageService,
  ) {}

  @Get()
  @Operation({
    id: 'listKeys',
    summary: 'List keys',
    description: 'Lists the keys of one client or of all, oldest first, never with their secrets.',
    answers: {
      status: 200,
      description: 'A page of keys',
      arrayOf: ApiKeyDto,
      schemaName: 'ApiKeys',
      optionalHeaders: NEXT_PAGE,
    },
  })
  @ApiErrors(client_not_found)
  async list(@Query() query: KeysQuery, @Paged() pager: Pager): Promise<ApiKeyDto[]> {
    const filter = query.client === undefined ? {} : { clientId: query.client };
    return (await pager.answer(query, (page) => this.keys.list(page, filter))).map(toApiKeyDto);
  }

  @Post()
  @Operation({
    id: 'issueKey',
    summary: 'Issue a key',
    description: 'Makes a key for a client. A key cannot hand on a scope that it does not hold itself.',
    answers: {
      status: 201,
      description: 'The key, with its secret this once',
      type: IssuedKeyDto,
      headers: { Location: 'Address of the key' },
    },
  })
  @Header('Cache-Control', 'no-store')
  @ApiErrors(client_not_found, scope_not_held)
  async issue(
    @Body() input: NewKeyDto,
    @CurrentOperator() by: Operator,
    @Res({ passthrough: true }) response: Response,
  ): Promise<IssuedKeyDto> {
    const issued = await this.issuing.issue(input, by);
    response.setHeader('Location', `/admin/keys/${issued.apiKey.id}`);
    return toIssuedKeyDto(issued);
  }

  @Get(':keyId')
  @Operation({
    id: 'getKey',
    summary: 'Show a key',
    description: 'Shows a key, never its secret, and whether it is banned.',
    answers: { status: 200, description: 'The key', type: ApiKeyStateDto },
  })
  @ApiErrors(key_not_found)
  async get(@Param() { keyId }: KeyParams): Promise<ApiKeyStateDto> {
    const key = await this.keys.get(keyId);
    return toApiKeyStateDto(key, await this.usage.bannedUntil(key));
  }

  @Patch(':keyId')
  @Operation({
    id: 'updateKey',
    summary: 'Label a key or bring its end forward',
    description:
      'Changes what is named. The end of a key can be brought forward, never put off: a new key can end later.',
    answers: { status: 200, description: 'The key as it is now', type: ApiKeyDto },
  })
  @ApiErrors(key_not_found, key_already_revoked, key_already_expired, last_key_with_scope)
  async update(
    @Param() { keyId }: KeyParams,
    @Query() query: ForceQuery,
    @Body() changes: KeyChangesDto,
    @CurrentOperator() by: Operator,
  ): Promise<ApiKeyDto> {
    return toApiKeyDto(await this.keys.update(keyId, changes, query, by));
  }

  @Post(':keyId/rotate')
  @Operation({
    id: 'rotateKey',
    summary: 'Rotate a key',
    description:
      'Makes a key with a new secret for the same client, with the same scopes and label. The old one goes on for ' +
      'the grace, so that nothing stops while the new one is put in its place.',
    answers: {
      status: 201,
      description: 'The new key, with its secret this once',
      type: IssuedKeyDto,
      headers: { Location: 'Address of the new key' },
    },
  })
  @ApiBody({ type: KeyRotationDto, required: false, examples: ROTATION_EXAMPLE })
  @Header('Cache-Control', 'no-store')
  @ApiErrors(
    key_not_found,
    key_already_revoked,
    key_already_expired,
    key_already_rotated,
    last_key_with_scope,
    scope_not_held,
  )
  async rotate(
    @Param() { keyId }: KeyParams,
    @Query() query: ForceQuery,
    @Body() rotation: KeyRotationDto,
    @CurrentOperator() by: Operator,
    @Res({ passthrough: true }) response: Response,
  ): Promise<IssuedKeyDto> {
    const issued = await this.issuing.rotate(keyId, rotation, by, query);
    response.setHeader('Location', `/admin/keys/${issued.apiKey.id}`);
    return toIssuedKeyDto(issued);
  }

  @Post(':keyId/revoke')
  @Operation({
    id: 'revokeKey',
    summary: 'Revoke a key',
    description: 'Ends a key at once and for good.',
    answers: { status: 200, description: 'The key as it is now', type: ApiKeyDto },
  })
  @ApiErrors(key_not_found, key_already_revoked, last_key_with_scope)
  async revoke(
    @Param() { keyId }: KeyParams,
    @Query() query: ForceQuery,
    @CurrentOperator() by: Operator,
  ): Promise<ApiKeyDto> {
    return toApiKeyDto(await this.keys.revoke(keyId, query, by));
  }

  @Post(':keyId/unban')
  @Operation({
    id: 'unbanKey',
    summary: 'Lift the ban of a key',
    description: 'Lifts the ban of a key and forgets its strikes.',
    answers: { status: 200, description: 'The key', type: ApiKeyDto },
  })
  @ApiErrors(key_not_found)
  async unban(@Param() { keyId }: KeyParams, @CurrentOperator() by: Operator): Promise<ApiKeyDto> {
    return toApiKeyDto(await this.keys.unban(keyId, by));
  }
}
