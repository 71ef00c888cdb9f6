import { Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import { CachedAs } from '../database/data-version.js';
import { WebhookEndpoint } from './webhook-endpoint.entity.js';

/** An event that an endpoint subscribes to. */
@CachedAs('keys', { isAbsenceCached: true })
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
