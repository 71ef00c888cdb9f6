import { Column, Entity, Index } from 'typeorm';
import { Int64Column, Int64Key } from '../../database/int64.js';

/** The `dueAt` of an event that was never tried, or was released by an operator. */
export const AT_ONCE = 0n;

/** An event that one listener has not handled yet; its row is deleted when it has. */
@Entity('outbox_events')
@Index('outbox_events_waiting', ['listener', 'id'], { where: 'due_at IS NOT NULL' })
@Index('outbox_events_backlog', ['listener', 'event', 'publishedAt', 'dueAt'], {
  where: 'due_at IS NOT NULL',
})
@Index('outbox_events_key', ['listener', 'key', 'dueAt'])
export class OutboxEvent {
  @Int64Key()
  id!: bigint;

  /** Name of the listener, as its `@OnDomainEvent()` gives it. */
  @Column('varchar', { length: 100 })
  listener!: string;

  /** Name of the event. */
  @Column('varchar', { length: 100 })
  event!: string;

  /** Events of one key reach a listener in the order in which they were published. */
  @Column('varchar', { length: 255 })
  key!: string;

  /** The data for the listener (event-data.ts). */
  @Column('text', { name: 'told' })
  data!: string;

  @Column('varchar', { name: 'published_at', length: 24 })
  publishedAt!: string;

  /** How often the listener failed with it. */
  @Column('integer')
  failures!: number;

  /** When it may be delivered, in ms since the Unix epoch, or AT_ONCE; null once it is parked. */
  @Int64Column({ name: 'due_at', nullable: true })
  dueAt!: bigint | null;

  /** Why the listener failed last, for people. */
  @Column('varchar', { length: 500, nullable: true })
  error!: string | null;
}
