import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ONE_CHANGE } from '../../auth/clients/key-rules.js';
import { Duration, Instant, StringList, Text, Uuid } from '../../http/validation/fields.js';
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

  @ApiProperty({ type: 'string', description: 'Name of the client', example: 'My shop' })
  clientName!: string;

  @ApiProperty({ type: 'string', description: 'The first characters of the key', example: 'pst_live_4fTz' })
  prefix!: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'A label for people', example: 'Web shop' })
  label!: string | null;

  @ApiProperty({ type: [String], example: ['account'] })
  scopes!: string[];

  @Instant({ description: 'When it was issued' })
  createdAt!: string;

  @Instant({ description: 'When it expires; null for never', nullable: true })
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

/** Makes the shown form of a key that was read with its client. */
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

/** Makes the shown form of a new key. */
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
  description: 'A label for people',
  example: 'Web shop',
  maxLength: 255,
  optional: true,
};

/** Body that issues a key for the caller's client. */
@ApiSchema({ name: 'NewOwnKey', description: 'The scopes, label and lifetime of a new key.' })
export class NewOwnKeyDto {
  @StringList({
    optional: true,
    description:
      'Scopes of the new key, each of which the sending key must have; default: those of the default scopes that the sending key has',
    example: ['account'],
  })
  scopes?: string[];

  @Text(LABEL)
  @WithoutApiKey()
  label?: string;

  /** Lifetime in milliseconds. */
  @Duration({
    description:
      'Lifetime, such as 90d, 12h or 30m, at most that of the sending key; default: the lifetime of the sending key',
    example: '90d',
    optional: true,
  })
  expires?: number;
}

/** Body that issues a key for any client. */
@ApiSchema({ name: 'NewKey', description: 'The scopes, label and lifetime of a new key.' })
export class NewKeyDto extends NewOwnKeyDto {
  @Uuid({ description: 'Client that the key belongs to' })
  clientId!: string;
}

/** Changeable fields of a key; omitted fields stay as they are. */
@ApiSchema({
  name: 'KeyChanges',
  description: 'Changes to a key; omitted fields stay as they are.',
  ...ONE_CHANGE,
})
export class KeyChangesDto {
  @Text({ nullable: true, ...LABEL })
  @WithoutApiKey()
  label?: string | null;

  /** In milliseconds. */
  @Duration({
    description: 'Remaining lifetime of the key; its expiry can be brought forward, never postponed',
    example: '7d',
    optional: true,
  })
  expires?: number;
}

/** Body that rotates a key. */
@ApiSchema({ name: 'KeyRotation', description: 'How to rotate a key.' })
export class KeyRotationDto {
  /** In milliseconds. */
  @Duration({
    description: 'How long the old key remains valid, at most until its own expiry; 0 ends it at once',
    example: '24h',
    default: '24h',
    allowZero: true,
  })
  grace!: number;

  /** Lifetime in milliseconds. */
  @Duration({
    description:
      'Lifetime of the new key, at most that of the sending key; default: the original lifetime of the old key',
    example: '90d',
    optional: true,
  })
  expires?: number;
}

/** The example that "Try it out" sends: without a lifetime, because it would give one to a key that has none. */
export const ROTATION_EXAMPLE = { rotation: { value: { grace: '24h' } } };
