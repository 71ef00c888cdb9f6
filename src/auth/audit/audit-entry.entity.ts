import { Column, Entity, Index } from 'typeorm';
import { Int64Key } from '../../database/int64.js';

/** Kinds of actors: an API key over HTTP, the user of another credential, the command line, or the service itself. */
export const ACTOR_KINDS = ['key', 'user', 'command_line', 'service'] as const;

/** Who made a change, and from where. */
export interface Actor {
  readonly kind: (typeof ACTOR_KINDS)[number];
  /** The API key that was sent, or the id derived from the user of another credential; null for other kinds. */
  readonly keyId: string | null;
  /** IP address of the caller, or user@host of the command line; null for the service itself. */
  readonly from: string | null;
  /** `X-Request-Id` of the request; null if there is none. */
  readonly requestId: string | null;
}

/** A change. It outlives its client and key, so it has no foreign keys to them. */
@Entity('audit_entries')
@Index('audit_entries_client', ['clientId', 'id'])
@Index('audit_entries_key', ['keyId', 'id'])
export class AuditEntry {
  @Int64Key()
  id!: bigint;

  @Column('varchar', { length: 24 })
  at!: string;

  @Column('varchar', { length: 60 })
  action!: string;

  @Column('varchar', { length: 20 })
  actor!: Actor['kind'];

  @Column('varchar', { name: 'actor_key_id', length: 36, nullable: true })
  actorKeyId!: string | null;

  @Column('varchar', { name: 'origin', length: 255, nullable: true })
  from!: string | null;

  @Column('varchar', { name: 'request_id', length: 128, nullable: true })
  requestId!: string | null;

  /** The client that was changed, or whose key was changed. */
  @Column('varchar', { name: 'client_id', length: 36, nullable: true })
  clientId!: string | null;

  @Column('varchar', { name: 'key_id', length: 36, nullable: true })
  keyId!: string | null;

  /** Details as JSON; never a secret. */
  @Column('simple-json')
  details!: object;
}
