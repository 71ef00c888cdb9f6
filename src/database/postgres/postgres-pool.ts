import type { ClientConfig, Pool, PoolClient } from 'pg';
import type pg from 'pg';
import type { ConnectionLoad } from '../database.js';
import { Turns } from '../scopes/turns.js';
import { LateCommits } from './late-commits.js';
import { Lease } from './lease.js';
import { isDenied, isFull } from './postgres-errors.js';
import { CONNECT_TIMEOUT_MS, type PostgresOptions, clientConfig } from './postgres-options.js';
import { type Found, PostgresTroubles, type TimedConnection } from './postgres-troubles.js';

/** How long an unused connection stays open, in milliseconds. */
const IDLE_MS = 60_000;
/** How long a write waits for a connection at most, in milliseconds. */
const WRITE_WAIT_MS = 1_000;
/** Which part of a pool is kept for reads: while commits hang, reads go on. A pool of two has none to keep. */
const PART_FOR_READS = 1 / 5;

/** What TypeORM hands to pg for its pool, beside the address. */
export function poolExtra(driver: typeof pg, options: PostgresOptions): object {
  const Client = class extends driver.Client implements TimedConnection {
    readonly begunAt = performance.now();

    constructor(config?: ClientConfig) {
      super(config);
      // The statement that runs on it fails, too.
      this.on('error', ignored);
    }
  };
  return { ...clientConfig(options), Client, max: options.pool, idleTimeoutMillis: IDLE_MS, pipeline: true };
}

/** Takes a page of the disk of the database's own tablespace, and gives it back without a commit, which might hang. */
const TAKES_A_PAGE = 'BEGIN; CREATE TEMPORARY TABLE petstore_page AS SELECT 1 AS taken; ROLLBACK';

/** The connections to PostgreSQL, and whether it answers. While it does not, requests are refused at once. */
export class PostgresPool {
  readonly troubles: PostgresTroubles;
  readonly late: LateCommits;
  /** Who may write. */
  private readonly places: Turns;

  /** `pool` is asked for late: TypeORM makes it when the DataSource is opened. `onOver` is called when a trouble is over. */
  constructor(
    private readonly driver: typeof pg,
    private readonly options: PostgresOptions,
    private readonly pool: () => Pool,
    onOver: () => void,
  ) {
    const { host, port, database } = options.address;
    const name = `PostgreSQL (${host}:${port}, database ${database})`;
    const forReads = options.pool > 2 ? Math.max(Math.floor(options.pool * PART_FOR_READS), 1) : 0;
    const waited = () => new Error('a write has waited for a connection for as long as it may');
    this.places = new Turns(options.pool - forReads, WRITE_WAIT_MS, waited);
    const refuse = (fault: Error) => this.places.refuse(fault);
    this.late = new LateCommits(name, options.statementTimeoutMs, this.places.most, refuse);
    this.troubles = new PostgresTroubles(
      name,
      (wasFull) => this.attempt(wasFull),
      () => {
        // Closes those that are idle on its way to one that is not outdated.
        this.read(() => Promise.resolve()).catch(ignored);
        onOver();
      },
      () => this.late.fault !== undefined,
    );
  }

  /** How the connections are used now. */
  get load(): ConnectionLoad {
    const { totalCount, idleCount, waitingCount } = this.pool();
    return {
      inUse: totalCount - idleCount,
      idle: idleCount,
      waiting: waitingCount + this.places.load.waiting,
      most: this.options.pool,
    };
  }

  /** Runs a read on a connection. Throws service_unavailable when there is none. */
  async read<T>(work: (lease: Lease) => Promise<T>): Promise<T> {
    const lease = new Lease(this, await this.connected());
    try {
      return await work(lease);
    } finally {
      lease.giveBack();
    }
  }

  /** A connection for what commits. Not all are in writes at the same time, so that reads go on while commits hang. */
  async takeToWrite(): Promise<Lease> {
    const fault = this.troubles.fault ?? this.late.fault;
    if (fault) throw fault;
    const place = await this.places.take().catch((error: unknown) => {
      throw this.troubles.note(error);
    });
    try {
      return new Lease(this, await this.connected(), place);
    } catch (error) {
      place();
      throw error;
    }
  }

  /** Waits for nothing any more. */
  end(): void {
    this.troubles.end();
    this.late.end();
  }

  /** One that is no older than the last trouble. */
  private async connected(): Promise<PoolClient> {
    const { fault } = this.troubles;
    if (fault) throw fault;
    const client = await this.pool()
      .connect()
      .catch((error: unknown) => {
        throw this.troubles.note(error);
      });
    if (!this.troubles.outdates(client)) return client;
    client.release(true);
    return this.connected();
  }

  /** Connects anew: the connections of the pool may be dead without knowing it. Of a disk that was full, a page is asked for. */
  private async attempt(wasFull: boolean): Promise<Found> {
    const client = new this.driver.Client({
      ...clientConfig(this.options),
      query_timeout: CONNECT_TIMEOUT_MS,
    });
    client.on('error', ignored);
    try {
      await client.connect();
      const { rows } = await client.query<{ reads: boolean }>(
        `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool AS reads`,
      );
      if (wasFull) await client.query(TAKES_A_PAGE);
      return rows[0]?.reads === true ? 'reads' : 'writes';
    } catch (error) {
      if (isFull(error)) return 'reads';
      // A user who may make no temporary tables learns it by the next write.
      if (isDenied(error)) return 'writes';
      throw error;
    } finally {
      client.end().catch(ignored);
    }
  }
}

const ignored = (): void => undefined;
