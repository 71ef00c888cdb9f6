import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Duration, Instant, Names, Text, Uuid } from '../../http/validation/fields.js';
import type { ApiKey } from '../../auth/clients/api-key.entity.js';
import type { IssuedKey } from '../../auth/clients/key-issuing.service.js';
import { WithoutApiKey } from '../../http/validation/without-api-key.js';

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

  @Instant({ description: 'When it was issued' })
  createdAt!: string;

  @Instant({ description: 'When it ends; null for never', nullable: true })
  expiresAt!: string | null;

  @Instant({ description: 'When it was revoked; null if it was not', nullable: true })
  revokedAt!: string | null;

  @Instant({ description: 'When it was last used, to the minute; null for never', nullable: true })
  lastUsedAt!: string | null;

  @ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    description: 'The key that it was rotated to; null if it was not',
  })
  replacedBy!: string | null;
}

/** Makes the shown form of a key. */
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

/** Makes the shown form of a key just issued. */
export function toIssuedKeyDto({ apiKey, secret }: IssuedKey): IssuedKeyDto {
  const { id, ...rest } = toApiKeyDto(apiKey);
  return { id, key: secret, ...rest };
}

/** One key, and until when it is banned. */
@ApiSchema({ name: 'ApiKeyState', description: 'A key of a client, and whether it is banned.' })
export class ApiKeyStateDto extends ApiKeyDto {
  @Instant({ description: 'When its ban ends; null if it is not banned', nullable: true })
  bannedUntil!: string | null;
}

/** Makes the shown form of one key. */
export function toApiKeyStateDto(key: ApiKey, bannedUntil: string | null): ApiKeyStateDto {
  return Object.assign(toApiKeyDto(key), { bannedUntil });
}

const LABEL = {
  description: 'What people call the key',
  example: 'Web shop',
  maxLength: 255,
  optional: true,
};

/** A key to issue for the caller's client. */
@ApiSchema({ name: 'NewOwnKey', description: 'A key to issue.' })
export class NewOwnKeyDto {
  @Names({
    optional: true,
    description:
      'Scopes of the key, none that the ordering key lacks; default: what the ordering key holds of the scopes that keys get by default',
    example: ['pets:read'],
  })
  scopes?: string[];

  @Text(LABEL)
  @WithoutApiKey()
  label?: string;

  /** Lifetime in milliseconds. */
  @Duration({
    description:
      'Lifetime, such as 90d, 12h or 30m, within that of the ordering key; default: as long as that, or no end',
    example: '90d',
    optional: true,
  })
  expires?: number;
}

/** A key to issue for any client. */
@ApiSchema({ name: 'NewKey', description: 'A key to issue.' })
export class NewKeyDto extends NewOwnKeyDto {
  @Uuid({ description: 'Client that the key belongs to' })
  clientId!: string;
}

/** What can be changed of a key; what is left out stays as it is. */
@ApiSchema({ name: 'KeyChanges', description: 'What to change of a key; what is left out stays as it is.' })
export class KeyChangesDto {
  @Text({ nullable: true, ...LABEL })
  @WithoutApiKey()
  label?: string | null;

  /** In milliseconds. */
  @Duration({
    description: 'How long the key still lives; its end can be brought forward, never put off',
    example: '7d',
    optional: true,
  })
  expires?: number;
}

/** How a key is rotated. */
@ApiSchema({ name: 'KeyRotation', description: 'How to rotate a key.' })
export class KeyRotationDto {
  /** In milliseconds. */
  @Duration({
    description: 'How long the old key still lives, never longer than its own end; 0 ends it at once',
    example: '24h',
    default: '24h',
    orZero: true,
  })
  grace!: number;

  /** Lifetime in milliseconds. */
  @Duration({
    description:
      'Lifetime of the new key, within that of the ordering key; default: as long as the old one was made for, or as the ordering key lives',
    example: '90d',
    optional: true,
  })
  expires?: number;
}

/** The example that "Try it out" sends: without a lifetime, because it would give one to a key that has none. */
export const ROTATION_EXAMPLE = { rotation: { value: { grace: '24h' } } };
