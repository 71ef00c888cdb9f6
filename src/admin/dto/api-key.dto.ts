import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ONE_CHANGE } from '../../auth/clients/key-rules.js';
import { Duration, Instant, StringList, Text, Uuid } from '../../http/validation/fields.js';
import type { ApiKey } from '../../auth/clients/api-key.entity.js';
import type { IssuedKey, RotatedKey } from '../../auth/clients/key-issuing.service.js';
import { WithoutApiKey } from '../../http/validation/without-api-key.js';

/** A key on the command line and over HTTP, without its secret. */
@ApiSchema({ name: 'ApiKey', description: 'A key of a client, without its secret.' })
export class ApiKeyDto {
  @ApiProperty({ type: 'string', format: 'uuid' })
  id!: string;

  @ApiProperty({ type: 'string', format: 'uuid', description: 'The client that owns the key' })
  clientId!: string;

  @ApiProperty({ type: 'string', description: 'Name of the client', example: 'My shop' })
  clientName!: string;

  @ApiProperty({ type: 'string', description: 'The first characters of the key', example: 'pst_live_4fTz' })
  prefix!: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'A label that helps people to recognize it',
    example: 'Web shop',
  })
  label!: string | null;

  @ApiProperty({ type: [String], example: ['account'] })
  scopes!: string[];

  @Instant({ description: 'When it was issued' })
  createdAt!: string;

  @Instant({ description: 'When it expires; null if it does not expire', nullable: true })
  expiresAt!: string | null;

  @Instant({ description: 'When it was revoked; null if it was not', nullable: true })
  revokedAt!: string | null;

  @Instant({ description: 'When it was last used, to the minute; null if it was never used', nullable: true })
  lastUsedAt!: string | null;

  @ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    description: 'The key that it was rotated to; null if it was not',
  })
  replacedBy!: string | null;
}

/** Converts a key, which must have been read with its client, for display. */
export function toApiKeyDto(key: ApiKey): ApiKeyDto {
  const { id, clientId, client, prefix, label, scopes } = key;
  const { createdAt, expiresAt, revokedAt, lastUsedAt, replacedBy } = key;
  const times = { createdAt, expiresAt, revokedAt, lastUsedAt };
  return { id, clientId, clientName: client.name, prefix, label, scopes, ...times, replacedBy };
}

/** A new key with its secret, which is not shown again. */
@ApiSchema({
  name: 'IssuedKey',
  description: 'A new key with its secret, which is shown only in this response.',
})
export class IssuedKeyDto extends ApiKeyDto {
  @ApiProperty({
    type: 'string',
    description: 'The key to send as a bearer token; the service stores only its SHA-256',
    example: 'pst_live_…',
  })
  key!: string;
}

/** Converts a new key for display. */
export function toIssuedKeyDto({ apiKey, secret }: IssuedKey): IssuedKeyDto {
  const { id, ...rest } = toApiKeyDto(apiKey);
  return { id, key: secret, ...rest };
}

/** The successor of a key, and when the key itself stops working. */
@ApiSchema({
  name: 'RotatedKey',
  description:
    'A new key with its secret, which is shown only in this response, and when the old key stops working.',
})
export class RotatedKeyDto extends IssuedKeyDto {
  @Instant({ description: 'When the old key stops working' })
  oldExpiresAt!: string;
}

/** Converts the successor of a key for display. */
export function toRotatedKeyDto({ oldExpiresAt, ...issued }: RotatedKey): RotatedKeyDto {
  return Object.assign(toIssuedKeyDto(issued), { oldExpiresAt });
}

/** A key, and when its ban ends. */
@ApiSchema({ name: 'ApiKeyState', description: 'A key of a client, and whether it is banned.' })
export class ApiKeyStateDto extends ApiKeyDto {
  @Instant({ description: 'When its ban ends; null if it is not banned', nullable: true })
  bannedUntil!: string | null;
}

/** Converts a key and its ban for display. */
export function toApiKeyStateDto(key: ApiKey, bannedUntil: string | null): ApiKeyStateDto {
  return Object.assign(toApiKeyDto(key), { bannedUntil });
}

const LABEL = {
  description: 'A label that helps people to recognize it',
  example: 'Web shop',
  maxLength: 255,
  optional: true,
};

/** Body that issues a key for the caller's own client. */
@ApiSchema({ name: 'NewOwnKey', description: 'The scopes, label and lifetime of a new key.' })
export class NewOwnKeyDto {
  @StringList({
    optional: true,
    description:
      'Scopes of the new key. The calling key must have each of them. Default: the default scopes that the calling key has',
    example: ['account'],
  })
  scopes?: string[];

  @Text(LABEL)
  @WithoutApiKey()
  label?: string;

  /** Lifetime in milliseconds. */
  @Duration({
    description:
      'Lifetime, such as 90d, 12h or 30m, at most that of the calling key; default: the lifetime of the calling key',
    example: '90d',
    optional: true,
  })
  expires?: number;
}

/** Body that issues a key for any client. */
@ApiSchema({ name: 'NewKey', description: 'The scopes, label and lifetime of a new key.' })
export class NewKeyDto extends NewOwnKeyDto {
  @Uuid({ description: 'The client that owns the key' })
  clientId!: string;
}

/** Changeable fields of a key; omitted fields do not change. */
@ApiSchema({
  name: 'KeyChanges',
  description: 'Changes to a key; omitted fields do not change.',
  ...ONE_CHANGE,
})
export class KeyChangesDto {
  @Text({ nullable: true, ...LABEL })
  @WithoutApiKey()
  label?: string | null;

  /** In milliseconds. */
  @Duration({
    description: 'Remaining lifetime of the key, which can only be shortened',
    example: '7d',
    optional: true,
  })
  expires?: number;
}

/** Body that rotates a key. */
@ApiSchema({ name: 'KeyRotation', description: 'Parameters of a key rotation.' })
export class KeyRotationDto {
  /** In milliseconds. */
  @Duration({
    description: 'How long the old key remains valid, at most until its own expiry; 0 revokes it immediately',
    example: '24h',
    default: '24h',
    allowZero: true,
  })
  grace!: number;

  /** Lifetime in milliseconds. */
  @Duration({
    description:
      'Lifetime of the new key, at most that of the calling key; default: the original lifetime of the old key',
    example: '90d',
    optional: true,
  })
  expires?: number;
}

/** The example for "Try it out": without a lifetime, because it would limit a key that does not expire. */
export const ROTATION_EXAMPLE = { rotation: { value: { grace: '24h' } } };
