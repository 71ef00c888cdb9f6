import { Column, Entity, Index, JoinColumn, ManyToOne, type Relation } from 'typeorm';
import { Int64Key } from '../database/int64.js';
import { WebhookEndpoint } from './webhook-endpoint.entity.js';
import { WebhookMessage } from './webhook-message.entity.js';

/** The state of a message for an endpoint: waiting, delivered (2xx), or failed permanently. */
export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Maximum number of stored attempts of a delivery, the latest. */
export const MAX_STORED_ATTEMPTS = 10;

/** A stored attempt to send a message. */
export interface StoredAttempt {
  /** When it ended, as ISO 8601 text in UTC. */
  readonly at: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly durationMs: number;
  readonly response: string | null;
  readonly isPublic: boolean;
}

/** A message for one endpoint. An endpoint receives its deliveries in the order of their ids. */
@Entity('webhook_deliveries')
// The constant first column makes SQLite prefer this index to the next one, which contains all deliveries in any state.
@Index('webhook_deliveries_waiting', ['state', 'endpointId', 'id'], { where: `state = 'waiting'` })
@Index('webhook_deliveries_endpoint', ['endpointId', 'id'])
@Index('webhook_deliveries_message', ['messageId'])
export class WebhookDelivery {
  @Int64Key()
  id!: bigint;

  @Column('varchar', { name: 'endpoint_id', length: 36 })
  endpointId!: string;

  @ManyToOne(() => WebhookEndpoint, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'endpoint_id', foreignKeyConstraintName: 'webhook_deliveries_of_endpoint' })
  endpoint!: Relation<WebhookEndpoint>;

  @Column('varchar', { name: 'message_id', length: 36 })
  messageId!: string;

  @ManyToOne(() => WebhookMessage, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'message_id', foreignKeyConstraintName: 'webhook_deliveries_of_message' })
  message!: Relation<WebhookMessage>;

  @Column('varchar', { length: 10 })
  state!: DeliveryState;

  @Column('integer')
  attempts!: number;

  @Column('varchar', { name: 'attempted_at', length: 24, nullable: true })
  attemptedAt!: string | null;

  /** HTTP status of the last attempt; null if there was no response. */
  @Column('integer', { nullable: true })
  status!: number | null;

  /** Why the last attempt failed, for display. */
  @Column('varchar', { length: 500, nullable: true })
  error!: string | null;

  /** The last attempts, oldest first; null before the first one, and in rows of earlier versions. */
  @Column('simple-json', { name: 'attempt_log', nullable: true })
  attemptLog!: readonly StoredAttempt[] | null;
}
