import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Int64Key } from '../../database/int64.js';
import { Instant } from '../../throttling/memory/quota-journal.entity.js';

/** The outcome of an admitted call of a deprecated operation, counted in addition to its actual outcome. */
export const DEPRECATED = 'deprecated';
/** The outcome of refused requests without a client's key, which are counted only for ALL_CLIENTS, without an operation. */
export const WITHOUT_KEY = 'without key';
/** Suffix of the outcome of a request that used no quota. */
export const UNCOUNTED = ' uncounted';
/** Client id of the totals of all clients; no client has it. */
export const ALL_CLIENTS = '';

/** The number of requests of a key in one window with the same operation, outcome and latency bucket. */
@Entity('request_counts')
@Index('request_counts_window', ['lengthMs', 'start'])
export class RequestCount {
  @PrimaryColumn('varchar', { name: 'client_id', length: 36 })
  clientId!: string;

  /** A UTC minute or day, in ms. */
  @PrimaryColumn('integer', { name: 'length_ms' })
  lengthMs!: number;

  /** Start of the window, in ms since the Unix epoch. */
  @Instant('window_start', { primary: true })
  start!: number;

  /** Empty for calls that were counted before keys were recorded. */
  @PrimaryColumn('varchar', { name: 'key_id', length: 36 })
  keyId!: string;

  /** Method and route template, such as `GET /v1/pets/:petId`. */
  @PrimaryColumn('varchar', { length: 200 })
  operation!: string;

  /** `2xx`, `304`, or status and code of an error, such as `404 pet_not_found`, optionally with UNCOUNTED; DEPRECATED; or WITHOUT_KEY. */
  @PrimaryColumn('varchar', { length: 100 })
  outcome!: string;

  /** The bucket of the latency (latency.ts). */
  @PrimaryColumn('integer')
  bucket!: number;

  @Column('integer')
  requests!: number;
}

/** One of the last requests of a client that returned an error, without its path, query, headers or body. */
@Entity('refused_requests')
@Index('refused_requests_client', ['clientId', 'id'])
@Index('refused_requests_request', ['requestId', 'id'])
@Index('refused_requests_code', ['code', 'id'])
@Index('refused_requests_operation', ['operation', 'id'])
export class RefusedRequest {
  /** In the order of writing, whatever the clock does. */
  @Int64Key()
  id!: bigint;

  @Column('varchar', { length: 24 })
  at!: string;

  /** `X-Request-Id`. Not unique, because clients can choose it. */
  @Column('varchar', { name: 'request_id', length: 128 })
  requestId!: string;

  @Column('varchar', { name: 'client_id', length: 36 })
  clientId!: string;

  /** Null for a credential other than a key. */
  @Column('varchar', { name: 'key_id', length: 36, nullable: true })
  keyId!: string | null;

  @Column('varchar', { length: 200 })
  operation!: string;

  @Column('integer')
  status!: number;

  /** The code of the Error body; null if none was sent. */
  @Column('varchar', { length: 96, nullable: true })
  code!: string | null;

  @Column('varchar', { length: 45, nullable: true })
  address!: string | null;
}
