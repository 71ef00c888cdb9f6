import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { ApiKey } from '../../accounts/api-key.entity.js';
import type { IssuedKey } from '../../accounts/key-issuing.service.js';
import { InstantField } from '../../input/duration.js';

/** A key as shown, on the command line and over HTTP; never its secret. */
@ApiSchema({ name: 'ApiKey', description: 'A key of a client, without its secret.' })
export class ApiKeyDto {
  @ApiProperty({ type: 'string', format: 'uuid' })
  id!: string;

  @ApiProperty({ type: 'string', format: 'uuid', description: 'Client that the key belongs to' })
  clientId!: string;

  @ApiProperty({ type: 'string', description: 'The beginning of the key', example: 'pst_live_4fTz' })
  prefix!: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'What people call it', example: 'Web shop' })
  label!: string | null;

  @ApiProperty({ type: [String], example: ['pets:read'] })
  scopes!: string[];

  @InstantField({ description: 'When it was issued' })
  createdAt!: string;

  @InstantField({ description: 'When it ends; null for never', nullable: true })
  expiresAt!: string | null;

  @InstantField({ description: 'When it was revoked; null if it was not', nullable: true })
  revokedAt!: string | null;

  @InstantField({ description: 'When it was last used, to the minute; null for never', nullable: true })
  lastUsedAt!: string | null;

  @ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    description: 'The key that it was rotated to; null if it was not',
  })
  replacedBy!: string | null;
}

/** What is shown of a key. */
export function toApiKeyDto(key: ApiKey): ApiKeyDto {
  const { id, clientId, prefix, label, scopes, createdAt, expiresAt, revokedAt, lastUsedAt, replacedBy } =
    key;
  return { id, clientId, prefix, label, scopes, createdAt, expiresAt, revokedAt, lastUsedAt, replacedBy };
}

/** A key just issued, with its secret this once. */
@ApiSchema({ name: 'IssuedKey', description: 'A key just issued. Its secret is shown this once.' })
export class IssuedKeyDto extends ApiKeyDto {
  @ApiProperty({
    type: 'string',
    description: 'The key itself, to be sent as bearer token; only its SHA-256 is kept',
    example: 'pst_live_…',
  })
  key!: string;
}

/** What is shown of a key just issued. */
export function toIssuedKeyDto({ apiKey, secret }: IssuedKey): IssuedKeyDto {
  const { id, ...rest } = toApiKeyDto(apiKey);
  return { id, key: secret, ...rest };
}

/** One key with the ban that runs, if any. */
@ApiSchema({ name: 'ApiKeyState', description: 'A key of a client, and whether it is banned.' })
export class ApiKeyStateDto extends ApiKeyDto {
  @InstantField({ description: 'When its ban ends; null if it is not banned', nullable: true })
  bannedUntil!: string | null;
}

/** What is shown of one key. */
export function toApiKeyStateDto(key: ApiKey, bannedUntil: string | null): ApiKeyStateDto {
  return Object.assign(toApiKeyDto(key), { bannedUntil });
}
