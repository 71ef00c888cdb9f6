import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ACTOR_KINDS, type Actor, type AuditEntry } from '../../auth/audit/audit-entry.entity.js';
import { Instant } from '../../http/validation/fields.js';

/** One change, on the command line and over HTTP. */
@ApiSchema({
  name: 'AuditEntry',
  description:
    'One change of a client, a key, a webhook endpoint or a durable event: who, what, when, from where.',
})
export class AuditEntryDto {
  @ApiProperty({ type: 'integer', format: 'int64', example: 1 })
  id!: bigint;

  @Instant({ description: 'When' })
  at!: string;

  @ApiProperty({ type: 'string', description: 'The action', example: 'api_key.revoked' })
  action!: string;

  @ApiProperty({ enum: ACTOR_KINDS, enumName: 'ActorKind', description: 'The kind of actor' })
  actor!: Actor['kind'];

  @ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    description:
      'The key that was sent, if any; for a user of another credential, the `clientId` of its log lines',
  })
  actorKeyId!: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description:
      'The label of that key, or its first characters, and its client; null if the key does not exist',
    example: 'Operations (My shop)',
  })
  actorName!: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Address of the caller, or user@host of the command line',
    example: '203.0.113.7',
  })
  from!: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: '`X-Request-Id` of the request, if there was one',
  })
  requestId!: string | null;

  @ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    description:
      'The client, or the client of the key or the endpoint; null for a durable event, which the details name',
  })
  clientId!: string | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'Its current name; null if it was deleted' })
  clientName!: string | null;

  @ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    description: 'The key, if a key was changed',
  })
  keyId!: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'The first characters of that key; null if it was deleted',
    example: 'pst_live_4fTz',
  })
  keyPrefix!: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description:
      'The label of the webhook endpoint that was changed, or the origin of its URL; null if it was deleted',
    example: 'Web shop',
  })
  endpointName!: string | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'Details of the change',
  })
  details!: object;
}

/** Names by ids: of clients, keys and webhook endpoints, and the prefixes of keys. */
export interface AuditNames {
  readonly names: ReadonlyMap<string, string>;
  readonly prefixes: ReadonlyMap<string, string>;
}

/** The endpoint that an entry is about. */
export function endpointOf({ details }: AuditEntry): string | undefined {
  const { endpointId } = details as { readonly endpointId?: string };
  return endpointId;
}

/** Makes the shown form of an audit entry, with the names of what it is about. */
export function toAuditEntryDto(entry: AuditEntry, { names, prefixes }: AuditNames): AuditEntryDto {
  const { id, at, action, actor, actorKeyId, from, requestId, clientId, keyId, details } = entry;
  const actorName = names.get(actorKeyId ?? '') ?? null;
  const clientName = names.get(clientId ?? '') ?? null;
  const who = { actor, actorKeyId, actorName, from, requestId };
  const keyPrefix = prefixes.get(keyId ?? '') ?? null;
  const endpointName = names.get(endpointOf(entry) ?? '') ?? null;
  return { id, at, action, ...who, clientId, clientName, keyId, keyPrefix, endpointName, details };
}
