import { Column, Entity, Index, JoinColumn, ManyToOne, type Relation } from 'typeorm';
import { Int64Key } from '../database/int64.js';
import { WebhookMessage } from './webhook-message.entity.js';

/** A message that has no deliveries yet. It is committed with the message, and deleted with the commit of the deliveries. */
@Entity('webhook_fan_outs')
@Index('webhook_fan_outs_message', ['messageId'])
export class WebhookFanOut {
  /** Messages are fanned out in the order of these. */
  @Int64Key()
  id!: bigint;

  @Column('varchar', { name: 'message_id', length: 36 })
  messageId!: string;

  @ManyToOne(() => WebhookMessage, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'message_id', foreignKeyConstraintName: 'webhook_fan_outs_of_message' })
  message!: Relation<WebhookMessage>;

  /** The client whose endpoints the message is for; null for those of all clients. */
  @Column('varchar', { name: 'client_id', length: 36, nullable: true })
  clientId!: string | null;
}
