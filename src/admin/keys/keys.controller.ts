import {
  Body,
  Get,
  Header,
  Param,
  Patch,
  Post,
  Query,
  type Type,
  applyDecorators,
  createParamDecorator,
} from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { ApiKeysService } from '../../auth/clients/api-keys.service.js';
import { CLIENTS_ERRORS } from '../../auth/clients/clients.errors.js';
import { KeyIssuingService } from '../../auth/clients/key-issuing.service.js';
import { UsageService } from '../../auth/usage/usage.service.js';
import type { Requester } from '../../auth/clients/audited-changes.js';
import { ApiErrors } from '../../core/errors/api-errors.decorator.js';
import type { OperationLimit } from '../../core/declared-operation.js';
import { reading } from '../../core/execution-context.js';
import { CurrentRequester } from '../../http/declarations/current-requester.js';
import {
  type Audience,
  AudienceController,
  OfClass,
  differencesOf,
} from '../../http/declarations/audience.js';
import { Operation, pageOf } from '../../http/declarations/operation.decorator.js';
import { PageQuery, Paged, type Pager } from '../../http/paging/pager.js';
import { Uncounted } from '../../throttling/uncounted.decorator.js';
import {
  ApiKeyDto,
  ApiKeyStateDto,
  IssuedKeyDto,
  KeyChangesDto,
  KeyRotationDto,
  NewKeyDto,
  NewOwnKeyDto,
  ROTATION_EXAMPLE,
  RotatedKeyDto,
  toApiKeyDto,
  toApiKeyStateDto,
  toIssuedKeyDto,
  toRotatedKeyDto,
} from '../dto/api-key.dto.js';
import { ForceQuery, KeyParams, KeysQuery } from '../dto/inputs.js';

const {
  client_not_found,
  key_not_found,
  key_already_revoked,
  key_already_expired,
  key_already_rotated,
  key_change_limit_reached,
  key_limit_reached,
  new_key_limit_reached,
  key_protected,
  last_key_with_scope,
  scope_not_held,
  scope_protected,
} = CLIENTS_ERRORS;

/** Key holders cannot force changes, and their document does not have this parameter. */
const NotForced = createParamDecorator(reading('head', () => ({})));

/**
 * The keys of clients, below the path of an audience. `newKeys` limits the operations that create keys, if they do not count toward the
 * quota.
 */
export function keysController(audience: Audience, newKeys?: OperationLimit): Type {
  const { isOwn, own, errors } = differencesOf(audience);
  const your = isOwn ? 'your' : 'a';
  const keyErrors = [...errors, key_not_found, isOwn ? key_protected : last_key_with_scope];
  const newKeyErrors = isOwn ? [key_limit_reached, new_key_limit_reached] : [];
  const keyAddress = ({ id }: { readonly id: string }): string => `/${audience.prefix}/keys/${id}`;
  const described = (Location: string) => (isOwn ? {} : { headers: { Location } });
  const listQuery = isOwn ? PageQuery : KeysQuery;
  const newKey = isOwn ? NewOwnKeyDto : NewKeyDto;
  const Force = (): ParameterDecorator => (isOwn ? NotForced() : Query());
  const MakesKey = (): MethodDecorator =>
    applyDecorators(Header('Cache-Control', 'no-store'), ...(newKeys ? [Uncounted(newKeys)] : []));

  @AudienceController(audience, 'keys', ['Keys', `The API keys of ${isOwn ? 'your client' : 'clients'}.`])
  class KeysController {
    constructor(
      private readonly keys: ApiKeysService,
      private readonly issuing: KeyIssuingService,
      private readonly usage: UsageService,
    ) {}

    @Get()
    @Operation({
      id: `list${own}Keys`,
      summary: isOwn ? 'List your keys' : 'List keys',
      description: `Lists the keys of ${isOwn ? 'your client' : 'one or all clients'}, oldest first, without their secrets.`,
      responses: pageOf(ApiKeyDto, 'ApiKeys', 'A page of keys'),
    })
    @ApiErrors(...(isOwn ? errors : [client_not_found]))
    async list(
      @Query() @OfClass(listQuery) query: KeysQuery,
      @CurrentRequester(audience) by: Requester,
      @Paged() pager: Pager,
    ): Promise<ApiKeyDto[]> {
      const of = { clientId: by.clientId ?? query.client, key: query.key, state: query.state };
      return (await pager.respond(query, (page) => this.keys.list(page, of))).map(toApiKeyDto);
    }

    @Post()
    @Operation({
      id: `issue${own}Key`,
      summary: 'Issue a key',
      description: `Creates a key for ${your} client. A key can grant only scopes that it has${isOwn ? ', but never `admin`' : ''}.`,
      responses: {
        status: 201,
        description: 'The key with its secret, which is shown only in this response',
        type: IssuedKeyDto,
        location: keyAddress,
        ...described('Address of the key'),
      },
    })
    @MakesKey()
    @ApiErrors(
      ...(isOwn ? [...errors, scope_protected] : [client_not_found]),
      scope_not_held,
      ...newKeyErrors,
    )
    async issue(
      @Body() @OfClass(newKey) input: NewKeyDto,
      @CurrentRequester(audience) by: Requester,
    ): Promise<IssuedKeyDto> {
      return toIssuedKeyDto(await this.issuing.issue(input, by));
    }

    @Get(':keyId')
    @Operation({
      id: `get${own}Key`,
      summary: 'Show a key',
      description: `Shows a key${isOwn ? ' of your client' : ''}, without its secret, and whether it is banned.`,
      responses: { status: 200, description: 'The key', type: ApiKeyStateDto },
    })
    @ApiErrors(...errors, key_not_found)
    async get(
      @Param() { keyId }: KeyParams,
      @CurrentRequester(audience) by: Requester,
    ): Promise<ApiKeyStateDto> {
      const key = await this.keys.get(keyId, by);
      return toApiKeyStateDto(key, await this.usage.bannedUntil(key));
    }

    @Patch(':keyId')
    @Operation({
      id: `update${own}Key`,
      summary: 'Update the label or the expiry of a key',
      description:
        'Updates the given fields. The lifetime of a key can only be shortened; for a later expiry, issue a new key.',
      responses: { status: 200, description: 'The updated key', type: ApiKeyDto },
    })
    @ApiErrors(
      ...keyErrors,
      key_already_revoked,
      key_already_expired,
      ...(isOwn ? [key_change_limit_reached] : []),
    )
    async update(
      @Param() { keyId }: KeyParams,
      @Force() query: ForceQuery,
      @Body() changes: KeyChangesDto,
      @CurrentRequester(audience) by: Requester,
    ): Promise<ApiKeyDto> {
      return toApiKeyDto(await this.keys.update(keyId, changes, query, by));
    }

    @Post(':keyId/rotate')
    @Operation({
      id: `rotate${own}Key`,
      summary: 'Rotate a key',
      description:
        `Creates a key with a new secret and the same ${isOwn ? '' : 'client, '}scopes and label. ${isOwn ? 'You can also rotate the key that you send. ' : ''}` +
        'The old key works until the end of the grace period, so that you can replace it without downtime.',
      responses: {
        status: 201,
        description: 'The new key with its secret, which is shown only in this response',
        type: RotatedKeyDto,
        location: keyAddress,
        ...described('Address of the new key'),
      },
    })
    @ApiBody({ type: KeyRotationDto, required: false, examples: ROTATION_EXAMPLE })
    @MakesKey()
    @ApiErrors(
      ...keyErrors,
      key_already_revoked,
      key_already_expired,
      key_already_rotated,
      scope_not_held,
      ...newKeyErrors,
    )
    async rotate(
      @Param() { keyId }: KeyParams,
      @Force() query: ForceQuery,
      @Body() rotation: KeyRotationDto,
      @CurrentRequester(audience) by: Requester,
    ): Promise<RotatedKeyDto> {
      return toRotatedKeyDto(await this.issuing.rotate(keyId, rotation, by, query));
    }

    @Post(':keyId/revoke')
    @Operation({
      id: `revoke${own}Key`,
      summary: 'Revoke a key',
      description: `Revokes a key immediately and permanently.${isOwn ? ' You can also revoke the key that you send: later requests with it return 401 `revoked_api_key`.' : ''}`,
      responses: { status: 200, description: 'The updated key', type: ApiKeyDto },
    })
    @ApiErrors(...keyErrors, key_already_revoked)
    async revoke(
      @Param() { keyId }: KeyParams,
      @Force() query: ForceQuery,
      @CurrentRequester(audience) by: Requester,
    ): Promise<ApiKeyDto> {
      return toApiKeyDto(await this.keys.revoke(keyId, query, by));
    }
  }
  return KeysController;
}
