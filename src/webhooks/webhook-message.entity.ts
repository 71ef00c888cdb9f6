import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** An event as it is sent to endpoints, with one delivery per endpoint. */
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
