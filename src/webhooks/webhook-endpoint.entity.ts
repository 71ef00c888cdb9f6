import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import { Client } from '../auth/clients/client.entity.js';
import { CachedAs } from '../database/data-version.js';
import { Int64Column } from '../database/int64.js';

/** Why an endpoint gets no messages: by its owner or an operator; it failed for three days; it answered 410. */
export const DISABLED_BECAUSE = ['owner', 'operator', 'failing', 'gone'] as const;
export type DisabledBecause = (typeof DISABLED_BECAUSE)[number];

/** A secret that was rotated, and until when it signs besides the one that came after it. */
export interface PreviousSecret {
  readonly secret: string;
  /** ISO 8601 text in UTC. */
  readonly until: string;
}

/** An address of a client to which messages are sent, one after the other. */
@CachedAs('keys', { isAbsenceCached: true })
@Entity('webhook_endpoints')
@Index('webhook_endpoints_client', ['clientId', 'createdAt', 'id'])
@Index('webhook_endpoints_created', ['createdAt', 'id'])
export class WebhookEndpoint {
  /** A UUID. */
  @PrimaryColumn('varchar', { length: 36 })
  id!: string;

  @Column('varchar', { name: 'client_id', length: 36 })
  clientId!: string;

  @ManyToOne(() => Client, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'client_id', foreignKeyConstraintName: 'webhook_endpoints_of_client' })
  client!: Relation<Client>;

  @Column('varchar', { length: 2048 })
  url!: string;

  /** A name that the client gives it. */
  @Column('varchar', { length: 255, nullable: true })
  label!: string | null;

  /** What signs its messages: `whsec_` and 32 bytes in Base64 (Standard Webhooks 1.0, "Signature scheme"). */
  @Column('varchar', { length: 100 })
  secret!: string;

  /** What signs its messages besides, each until its end, after rotations; the oldest first. */
  @Column('simple-json', { name: 'previous_secrets' })
  previousSecrets!: readonly PreviousSecret[];

  @Column('varchar', { name: 'created_at', length: 24 })
  createdAt!: string;

  /** Since when it gets no messages; null while it does. */
  @Column('varchar', { name: 'disabled_at', length: 24, nullable: true })
  disabledAt!: string | null;

  @Column('varchar', { name: 'disabled_because', length: 20, nullable: true })
  disabledBecause!: DisabledBecause | null;

  /** How often its first waiting message has failed. */
  @Column('integer')
  failures!: number;

  /** Since when its first waiting message fails; null while it does not. */
  @Column('varchar', { name: 'failing_since', length: 24, nullable: true })
  failingSince!: string | null;

  /** When its first waiting message may be sent, in ms since the Unix epoch: 0 while it was never tried. */
  @Int64Column({ name: 'due_at' })
  dueAt!: bigint;

  /** How long after the last failure that is, in milliseconds. */
  @Column('integer')
  delay!: number;
}
