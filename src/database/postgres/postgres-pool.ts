import type { Client, Pool, PoolClient, QueryConfig, QueryResult } from 'pg';
import type pg from 'pg';
import type { ConnectionLoad } from '../database.js';
import { type Release, Semaphore } from '../scopes/semaphore.js';
import { LateCommits, processOf } from './late-commits.js';
import { isDenied, isFull, meaningOf } from './postgres-errors.js';
import { CONNECT_TIMEOUT_MS, type PostgresOptions, clientConfig } from './postgres-options.js';
import { type Found, PostgresTroubles } from './postgres-troubles.js';

/** Longest wait of a write for a connection, in milliseconds. */
const WRITE_WAIT_MS = 1_000;
/** The share of a pool that is kept for reads, so that reads continue while commits hang. A pool of two keeps none. */
const PART_FOR_READS = 1 / 5;

/** Takes a page of the disk of the database's own tablespace, and gives it back without a commit, which might hang. */
const TAKES_A_PAGE = 'BEGIN; CREATE TEMPORARY TABLE petstore_page AS SELECT 1 AS taken; ROLLBACK';

/** Those of some processes that are working, and the one that answers. */
const WORKING = `SELECT pid FROM pg_stat_activity WHERE pid = pg_backend_pid() OR pid = ANY($1) AND state = 'active'`;

/** A connection of the pool that is in use. A failure of the server is thrown as service_unavailable. */
export class PooledConnection {
  /** Whether the state of the connection is unknown: then it is closed. */
  isBroken = false;

  constructor(
    private readonly pool: PostgresPool,
    readonly client: PoolClient,
    private readonly place?: Release,
  ) {}

  /** Runs a statement. */
  query(query: QueryConfig): Promise<QueryResult> {
    return this.noted(this.client.query(query));
  }

  /** Runs a statement that begins or ends a transaction: when it fails, it is unknown whether one is open. */
  async control(text: string): Promise<void> {
    try {
      await this.query({ text });
    } catch (error) {
      this.isBroken = true;
      throw error;
    }
  }

  /** Runs a statement that commits. */
  commit(query: QueryConfig): Promise<QueryResult> {
    return this.noted(this.pool.late.send(this.client, query));
  }

  /** Ends its use; to be called once. One whose commit is late stays in use until that is over. */
  release(): void {
    const end = (isClosed: boolean): void => {
      this.client.release(isClosed);
      this.place?.();
    };
    const free = this.pool.late.free(this.client);
    if (free) void free.then(() => end(true));
    else end(this.isBroken || this.pool.troubles.outdates(this.client));
  }

  private async noted<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      const meaning = meaningOf(error);
      this.isBroken ||= meaning !== 'other' && meaning !== 'busy';
      throw this.pool.troubles.note(error, this.client);
    }
  }
}

/** The connections to PostgreSQL, and whether it responds. While it does not, requests are refused at once. */
export class PostgresPool {
  readonly troubles: PostgresTroubles;
  readonly late: LateCommits;
  /** Who may write. */
  private readonly places: Semaphore;

  /** `pool` is called late: TypeORM makes it when the DataSource is opened. `onOver` is called when a trouble is over. */
  constructor(
    private readonly driver: typeof pg,
    private readonly options: PostgresOptions,
    private readonly pool: () => Pool,
    onOver: () => void,
  ) {
    const { host, port, database } = options.address;
    const name = `PostgreSQL (${host}:${port}, database ${database})`;
    const forReads = options.pool > 2 ? Math.max(Math.floor(options.pool * PART_FOR_READS), 1) : 0;
    const waited = () => new Error('a write waited too long for a connection');
    this.places = new Semaphore(options.pool - forReads, WRITE_WAIT_MS, waited);
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

  /** Runs a read on a connection. Throws service_unavailable without one. */
  async read<T>(work: (connection: PooledConnection) => Promise<T>): Promise<T> {
    const connection = new PooledConnection(this, await this.connected());
    try {
      return await work(connection);
    } finally {
      connection.release();
    }
  }

  /** Runs a statement that commits by itself. Throws service_unavailable without a connection. */
  async write<T>(work: (connection: PooledConnection) => Promise<T>): Promise<T> {
    const connection = await this.takeToWrite();
    try {
      return await work(connection);
    } finally {
      connection.release();
    }
  }

  /** A connection for what commits. Not all are in writes at the same time, so that reads continue while commits hang. */
  async takeToWrite(): Promise<PooledConnection> {
    const fault = this.troubles.fault ?? this.late.fault;
    if (fault) throw fault;
    const place = await this.noted(this.places.acquire());
    try {
      return new PooledConnection(this, await this.connected(), place);
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

  /** One that is not older than the last trouble. */
  private async connected(): Promise<PoolClient> {
    const { fault } = this.troubles;
    if (fault) throw fault;
    const client = await this.noted(this.pool().connect());
    if (!this.troubles.outdates(client)) return client;
    client.release(true);
    return this.connected();
  }

  private noted<T>(waited: Promise<T>): Promise<T> {
    return waited.catch((error: unknown) => {
      throw this.troubles.note(error);
    });
  }

  /** Finds out by a new connection which late commits are over. A pooler's connections have other ids than the server's processes. */
  private async askForLate(client: Client): Promise<void> {
    const { processes } = this.late;
    if (processes.length === 0) return;
    const { rows } = await client.query<{ pid: number }>(WORKING, [processes]);
    const working = rows.map(({ pid }) => pid);
    if (working.includes(processOf(client))) this.late.giveUpOthers(working);
  }

  /** Connects again: the connections of the pool may be dead without knowing it. After a full disk, it allocates a page. */
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
      await this.askForLate(client);
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
