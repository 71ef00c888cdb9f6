import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import { Client } from '../auth/clients/client.entity.js';
import { defineClientState } from '../auth/clients/client-list.js';
import { Int64Column } from '../database/int64.js';

/** Why an endpoint is disabled: by its owner or an operator, after failing for three days, or after a response with status 410. */
export const DISABLED_BECAUSE = ['owner', 'operator', 'failing', 'gone'] as const;
export type DisabledBecause = (typeof DISABLED_BECAUSE)[number];

/** States by which endpoints are listed. */
export const ENDPOINT_STATES = ['failing', 'disabled'] as const;

/** Selects a column of the endpoints that fail, including those that were disabled for that reason. */
export const FAILING = (column: 'id' | 'client_id'): string =>
  `SELECT ${column} FROM webhook_endpoints WHERE failing_since > '' AND (disabled_at IS NULL OR disabled_because = 'failing')`;

defineClientState('failing', FAILING('client_id'));

/** The columns of an endpoint whose next message has not failed. */
export const HEALTHY = { failures: 0, failingSince: null, lastError: null, dueAt: 0n, delay: 0 };

/** A rotated secret, and when it stops signing. */
export interface PreviousSecret {
  readonly secret: string;
  /** ISO 8601 text in UTC. */
  readonly until: string;
}

/** A client's URL to which messages are sent one after the other. */
@Entity('webhook_endpoints')
@Index('webhook_endpoints_client', ['clientId', 'createdAt', 'id'])
@Index('webhook_endpoints_created', ['createdAt', 'id'])
@Index('webhook_endpoints_failing', ['failingSince', 'clientId'])
export class WebhookEndpoint {
  @PrimaryColumn('varchar', { length: 36 })
  id!: string;

  @Column('varchar', { name: 'client_id', length: 36 })
  clientId!: string;

  @ManyToOne(() => Client, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'client_id', foreignKeyConstraintName: 'webhook_endpoints_of_client' })
  client!: Relation<Client>;

  @Column('varchar', { length: 2048 })
  url!: string;

  /** A name chosen by the client. */
  @Column('varchar', { length: 255, nullable: true })
  label!: string | null;

  /** The signing secret: `whsec_` and 32 bytes in Base64 (Standard Webhooks 1.0, "Signature scheme"). */
  @Column('varchar', { length: 100 })
  secret!: string;

  /** Rotated secrets that still sign, oldest first. */
  @Column('simple-json', { name: 'previous_secrets' })
  previousSecrets!: readonly PreviousSecret[];

  @Column('varchar', { name: 'created_at', length: 24 })
  createdAt!: string;

  /** When it was disabled; null while it is enabled. */
  @Column('varchar', { name: 'disabled_at', length: 24, nullable: true })
  disabledAt!: string | null;

  @Column('varchar', { name: 'disabled_because', length: 20, nullable: true })
  disabledBecause!: DisabledBecause | null;

  /** Consecutive failures of its first waiting message. */
  @Column('integer')
  failures!: number;

  /** When its first waiting message first failed; null if it has not. */
  @Column('varchar', { name: 'failing_since', length: 24, nullable: true })
  failingSince!: string | null;

  /** Why the last attempt failed; kept when it is disabled, and null after a delivery. */
  @Column('varchar', { name: 'last_error', length: 500, nullable: true })
  lastError!: string | null;

  /** When its first waiting message is due, in ms since the Unix epoch; 0 before the first attempt. */
  @Int64Column({ name: 'due_at' })
  dueAt!: bigint;

  /** The delay between the last failure and `dueAt`, in milliseconds. */
  @Column('integer')
  delay!: number;
}

/** An event that an endpoint subscribes to. */
@Entity('webhook_subscriptions')
@Index('webhook_subscriptions_event', ['event'])
export class WebhookSubscription {
  @PrimaryColumn('varchar', { name: 'endpoint_id', length: 36 })
  endpointId!: string;

  @ManyToOne(() => WebhookEndpoint, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'endpoint_id', foreignKeyConstraintName: 'webhook_subscriptions_of_endpoint' })
  endpoint!: Relation<WebhookEndpoint>;

  /** Such as `pets.created`. */
  @PrimaryColumn('varchar', { length: 100 })
  event!: string;
}
