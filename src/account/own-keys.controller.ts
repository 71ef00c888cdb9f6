import { Body, Controller, Get, Header, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { ACCOUNTS_ERRORS } from '../auth/clients/accounts.errors.js';
import type { Operator } from '../auth/clients/audited-changes.js';
import { RequireScopes } from '../auth/auth.decorators.js';
import { type Caller, CurrentClient } from '../auth/caller.js';
import { ApiErrors } from '../core/errors/api-errors.decorator.js';
import { CurrentOperator } from '../admin/current-operator.js';
import {
  ApiKeyDto,
  ApiKeyStateDto,
  IssuedKeyDto,
  KeyChangesDto,
  KeyRotationDto,
  NewOwnKeyDto,
  ROTATION_EXAMPLE,
  toApiKeyDto,
  toApiKeyStateDto,
  toIssuedKeyDto,
} from '../admin/dto/api-key.dto.js';
import { KeyParams } from '../admin/dto/inputs.js';
import { NEXT_PAGE, Operation, Tag } from '../http/operation.decorator.js';
import { PageQuery, Paged, type Pager } from '../http/paging/pager.js';
import { Uncounted } from '../throttling/uncounted.decorator.js';
import { KEYS_BOUND, NEW_KEYS_BOUND } from './account.bounds.js';
import { accountHolderOf } from './account-holder.js';
import { ACCOUNT_SCOPE } from './account.scopes.js';
import { OwnKeysService } from './own-keys.service.js';

const {
  key_not_found,
  key_already_revoked,
  key_already_expired,
  key_already_rotated,
  key_change_limit_reached,
  key_limit_reached,
  new_key_limit_reached,
  key_protected,
  no_account,
  scope_not_held,
  scope_protected,
} = ACCOUNTS_ERRORS;

const keyAddress = ({ id }: { readonly id: string }): string => `/account/keys/${id}`;

/** The keys of the caller's own client. */
@Tag('Keys', 'The API keys of your client.')
@RequireScopes(ACCOUNT_SCOPE)
@Uncounted(KEYS_BOUND)
@Controller('account/keys')
export class OwnKeysController {
  constructor(private readonly keys: OwnKeysService) {}

  @Get()
  @Operation({
    id: 'listOwnKeys',
    summary: 'List your keys',
    description: 'Lists the keys of your client, oldest first, never with their secrets.',
    answers: {
      status: 200,
      description: 'A page of keys',
      arrayOf: ApiKeyDto,
      schemaName: 'ApiKeys',
      optionalHeaders: NEXT_PAGE,
    },
  })
  @ApiErrors(no_account)
  async list(
    @Query() query: PageQuery,
    @CurrentClient() caller: Caller | undefined,
    @Paged() pager: Pager,
  ): Promise<ApiKeyDto[]> {
    const holder = accountHolderOf(caller);
    return (await pager.answer(query, (page) => this.keys.list(holder, page))).map(toApiKeyDto);
  }

  @Post()
  @Uncounted(NEW_KEYS_BOUND)
  @Operation({
    id: 'issueOwnKey',
    summary: 'Issue a key',
    description:
      'Makes a key for your client. A key cannot hand on a scope that it does not hold itself, and never `admin`.',
    answers: {
      status: 201,
      description: 'The key, with its secret this once',
      type: IssuedKeyDto,
      location: keyAddress,
    },
  })
  @Header('Cache-Control', 'no-store')
  @ApiErrors(no_account, scope_not_held, scope_protected, key_limit_reached, new_key_limit_reached)
  async issue(
    @Body() order: NewOwnKeyDto,
    @CurrentClient() caller: Caller | undefined,
    @CurrentOperator() by: Operator,
  ): Promise<IssuedKeyDto> {
    return toIssuedKeyDto(await this.keys.issue(accountHolderOf(caller), order, by));
  }

  @Get(':keyId')
  @Operation({
    id: 'getOwnKey',
    summary: 'Show a key',
    description: 'Shows a key of your client, never its secret, and whether it is banned.',
    answers: { status: 200, description: 'The key', type: ApiKeyStateDto },
  })
  @ApiErrors(no_account, key_not_found)
  async get(
    @Param() { keyId }: KeyParams,
    @CurrentClient() caller: Caller | undefined,
  ): Promise<ApiKeyStateDto> {
    const key = await this.keys.get(accountHolderOf(caller), keyId);
    return toApiKeyStateDto(key, await this.keys.bannedUntil(key));
  }

  @Patch(':keyId')
  @Operation({
    id: 'updateOwnKey',
    summary: 'Label a key or bring its end forward',
    description:
      'Changes what is named. The end of a key can be brought forward, never put off: a new key can end later.',
    answers: { status: 200, description: 'The key as it is now', type: ApiKeyDto },
  })
  @ApiErrors(
    no_account,
    key_not_found,
    key_protected,
    key_already_revoked,
    key_already_expired,
    key_change_limit_reached,
  )
  async update(
    @Param() { keyId }: KeyParams,
    @Body() changes: KeyChangesDto,
    @CurrentClient() caller: Caller | undefined,
    @CurrentOperator() by: Operator,
  ): Promise<ApiKeyDto> {
    return toApiKeyDto(await this.keys.update(accountHolderOf(caller), keyId, changes, by));
  }

  @Post(':keyId/rotate')
  @Uncounted(NEW_KEYS_BOUND)
  @Operation({
    id: 'rotateOwnKey',
    summary: 'Rotate a key',
    description:
      'Makes a key with a new secret, with the same scopes and label; also for the key that is sent. The old one goes on for ' +
      'the grace, so that nothing stops while the new one is put in its place.',
    answers: {
      status: 201,
      description: 'The new key, with its secret this once',
      type: IssuedKeyDto,
      location: keyAddress,
    },
  })
  @ApiBody({ type: KeyRotationDto, required: false, examples: ROTATION_EXAMPLE })
  @Header('Cache-Control', 'no-store')
  @ApiErrors(
    no_account,
    key_not_found,
    key_protected,
    key_already_revoked,
    key_already_expired,
    key_already_rotated,
    key_limit_reached,
    new_key_limit_reached,
    scope_not_held,
  )
  async rotate(
    @Param() { keyId }: KeyParams,
    @Body() rotation: KeyRotationDto,
    @CurrentClient() caller: Caller | undefined,
    @CurrentOperator() by: Operator,
  ): Promise<IssuedKeyDto> {
    return toIssuedKeyDto(await this.keys.rotate(accountHolderOf(caller), keyId, rotation, by));
  }

  @Post(':keyId/revoke')
  @Operation({
    id: 'revokeOwnKey',
    summary: 'Revoke a key',
    description:
      'Ends a key at once and for good. It may be the key that is sent: this is its last answer, the next is 401 `revoked_api_key`.',
    answers: { status: 200, description: 'The key as it is now', type: ApiKeyDto },
  })
  @ApiErrors(no_account, key_not_found, key_protected, key_already_revoked)
  async revoke(
    @Param() { keyId }: KeyParams,
    @CurrentClient() caller: Caller | undefined,
    @CurrentOperator() by: Operator,
  ): Promise<ApiKeyDto> {
    return toApiKeyDto(await this.keys.revoke(accountHolderOf(caller), keyId, by));
  }
}
