import type { OutgoingHttpHeader } from 'node:http';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The response to a request with an `Idempotency-Key`, committed together with the request's changes. */
@Entity('idempotency_entries')
@Index('idempotency_entries_created', ['createdAt'])
export class IdempotencyEntry {
  @PrimaryColumn('varchar', { name: 'client_id', length: 36 })
  clientId!: string;

  /** The parsed `Idempotency-Key`. */
  @PrimaryColumn('varchar', { length: 255 })
  key!: string;

  /** SHA-256 of method, target and body, in hexadecimal. */
  @Column('varchar', { length: 64 })
  digest!: string;

  @Column('integer')
  status!: number;

  /** The headers set by the handler. */
  @Column('simple-json')
  headers!: Record<string, OutgoingHttpHeader>;

  @Column('text')
  body!: string;

  @Column('varchar', { name: 'created_at', length: 24 })
  createdAt!: string;
}
