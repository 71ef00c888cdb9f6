import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ACTOR_KINDS, type Actor, type AuditEntry } from '../../auth/audit/audit-entry.entity.js';
import { Instant } from '../../http/validation/fields.js';

/** A change, on the command line and over HTTP. */
@ApiSchema({
  name: 'AuditEntry',
  description:
    'A change to a client, a key, a webhook endpoint or a durable event: who made it, when, and from where.',
})
export class AuditEntryDto {
  @ApiProperty({ type: 'integer', format: 'int64', example: 1 })
  id!: bigint;

  @Instant({ description: 'When the change was made' })
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
      'Id of the API key that was sent, if any. For another credential, the id of its user, which log lines contain as `clientId`',
  })
  actorKeyId!: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description:
      'The label or first characters of that key, and its client; null if the client was deleted and erased',
    example: 'Operations (My shop)',
  })
  actorName!: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'IP address of the caller, or user@host on the command line',
    example: '203.0.113.7',
  })
  from!: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: '`X-Request-Id` of the request, if any',
  })
  requestId!: string | null;

  @ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    description:
      'The client, or the owner of the key or endpoint; null for a durable event, which `details` identifies',
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
    description: 'The first characters of that key; null if the client was deleted and erased',
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

/** Names of clients, keys and webhook endpoints, and prefixes of keys, by id. */
export interface AuditNames {
  readonly names: ReadonlyMap<string, string>;
  readonly prefixes: ReadonlyMap<string, string>;
}

/** The endpoint of an entry. */
export function endpointOf({ details }: AuditEntry): string | undefined {
  const { endpointId } = details as { readonly endpointId?: string };
  return endpointId;
}

/** Converts an audit entry for display, with the names of the objects concerned. */
export function toAuditEntryDto(entry: AuditEntry, { names, prefixes }: AuditNames): AuditEntryDto {
  const { id, at, action, actor, actorKeyId, from, requestId, clientId, keyId, details } = entry;
  const actorName = names.get(actorKeyId ?? '') ?? null;
  const clientName = names.get(clientId ?? '') ?? null;
  const who = { actor, actorKeyId, actorName, from, requestId };
  const keyPrefix = prefixes.get(keyId ?? '') ?? null;
  const endpointName = names.get(endpointOf(entry) ?? '') ?? null;
  return { id, at, action, ...who, clientId, clientName, keyId, keyPrefix, endpointName, details };
}
