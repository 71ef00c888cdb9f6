import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import { Int64Key } from '../database/int64.js';

/** An event as sent to endpoints, with one delivery per endpoint. */
@Entity('webhook_messages')
@Index('webhook_messages_created', ['createdAt'])
export class WebhookMessage {
  /** `webhook-id` of every attempt: `msg_` and 32 hexadecimal digits, random or derived from the event (see MessageOptions.id). */
  @PrimaryColumn('varchar', { length: 36 })
  id!: string;

  @Column('varchar', { length: 100 })
  event!: string;

  /** The body of every attempt, as JSON: type, timestamp and data (Standard Webhooks 1.0, "Payload structure"). */
  @Column('text')
  payload!: string;

  @Column('varchar', { name: 'created_at', length: 24 })
  createdAt!: string;
}

/**
 * A message that has no deliveries yet. It is inserted together with the message, and deleted together with the insertion of the
 * deliveries.
 */
@Entity('webhook_fan_outs')
@Index('webhook_fan_outs_message', ['messageId'])
export class WebhookFanOut {
  /** Messages are fanned out in this order. */
  @Int64Key()
  id!: bigint;

  @Column('varchar', { name: 'message_id', length: 36 })
  messageId!: string;

  @ManyToOne(() => WebhookMessage, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'message_id', foreignKeyConstraintName: 'webhook_fan_outs_of_message' })
  message!: Relation<WebhookMessage>;

  /** The client whose endpoints receive the message; null for those of all clients. */
  @Column('varchar', { name: 'client_id', length: 36, nullable: true })
  clientId!: string | null;
}
