import pg from 'pg';
import type { PoolClient } from 'pg';
import type { ApiError } from '../../core/errors/api-error.js';
import type { ConnectionLoad } from '../database.js';
import { manualTransactionError } from '../statements.js';
import { type Release, Semaphore } from '../transactions/semaphore.js';
import { unavailable } from '../unavailable.js';
import { PooledConnection, TimedClient } from './pooled-connection.js';
import { UNLIMITED_SESSION, type PostgresOptions, SESSION, clientConfig } from './postgres-options.js';
import { PostgresAvailability } from './postgres-availability.js';

/** Maximum wait for a connection, in milliseconds. */
const WAIT_MS = 1_000;
/** How long an idle connection stays open, in milliseconds. */
const IDLE_MS = 60_000;
/** The share of a pool that is reserved for reads, so that reads continue while commits hang. A pool of two reserves none. */
const READ_SHARE = 1 / 5;

/** The connections to PostgreSQL, and whether it responds. While it does not, requests are refused immediately. */
export class PostgresPool {
  readonly availability: PostgresAvailability;
  readonly late = new Set<PooledConnection>();
  /** pg's pool, which TypeORM opens and closes. */
  readonly connections: pg.Pool;
  /** Limits the users of connections. */
  private readonly connectionSlots: Semaphore;
  /** Limits writers, so that reads continue while commits hang. */
  private readonly writeSlots: Semaphore;

  constructor(readonly options: PostgresOptions) {
    const session = options.statementTimeoutMs === 0 ? UNLIMITED_SESSION : SESSION;
    this.connections = new pg.Pool({
      ...clientConfig(options),
      Client: TimedClient,
      max: options.pool,
      idleTimeoutMillis: IDLE_MS,
      // Statements are sent while earlier ones run.
      ...({ pipeline: true } as object),
    });
    this.connections.on('connect', (client) => {
      // The running statement fails as well.
      client.on('error', ignored);
      // Sent before the first statement of the request that waits for the connection.
      client.query(session).catch(ignored);
    });
    // Without traffic, an idle connection is the first to fail.
    this.connections.on('error', (error, client) => void this.availability.note(error, client));
    const reserved = options.pool > 2 ? Math.max(Math.floor(options.pool * READ_SHARE), 1) : 0;
    const timeoutError = () => new Error('a statement waited too long for a connection');
    this.connectionSlots = new Semaphore(options.pool, WAIT_MS, timeoutError);
    this.writeSlots = new Semaphore(options.pool - reserved, WAIT_MS, timeoutError);
    this.availability = new PostgresAvailability(options, this);
  }

  /** The pg module for TypeORM, with this pool. */
  get driver(): object {
    const { connections } = this;
    return {
      ...pg,
      Pool: function () {
        return connections;
      },
    };
  }

  /** The error for new writes while late commits hold all write slots; undefined otherwise. */
  get commitError(): ApiError | undefined {
    if (this.late.size < this.writeSlots.max) return undefined;
    const cause = new Error(`${this.late.size} commits are late`);
    return unavailable('the database does not confirm commits', cause, true);
  }

  get load(): ConnectionLoad {
    const { totalCount, idleCount } = this.connections;
    return {
      inUse: totalCount - idleCount,
      idle: idleCount,
      waiting: this.connectionSlots.load.waiting + this.writeSlots.load.waiting,
      max: this.options.pool,
    };
  }

  /** Runs a read on a connection. Throws service_unavailable if none is available. */
  async read<T>(work: (connection: PooledConnection) => Promise<T>): Promise<T> {
    return using(await this.acquire(this.connectionSlots), work);
  }

  /** Runs a statement that commits on its own. Throws service_unavailable if no connection is available. */
  async write<T>(work: (connection: PooledConnection) => Promise<T>): Promise<T> {
    return using(await this.acquireForWrite(), work);
  }

  /** A connection for a transaction or statement that commits. */
  async acquireForWrite(): Promise<PooledConnection> {
    const error = this.availability.error ?? this.commitError;
    if (error) throw error;
    return this.acquire(this.writeSlots, this.connectionSlots);
  }

  addLateCommit(connection: PooledConnection): void {
    this.late.add(connection);
    this.abandonOutdated();
    if (this.commitError) this.writeSlots.refuse(this.commitError);
  }

  removeLateCommit(connection: PooledConnection): void {
    this.late.delete(connection);
  }

  /** Closes connections older than the last recovery; those in use are closed when they are released. */
  discardOutdated(): void {
    this.abandonOutdated();
    // On its way to a usable connection, this closes outdated idle ones.
    this.read(() => Promise.resolve()).catch(ignored);
  }

  end(): void {
    this.availability.end();
    this.abandonOutdated();
  }

  private abandonOutdated(): void {
    for (const connection of this.late)
      if (this.availability.isEnded || this.availability.outdates(connection.client))
        connection.abandonCommit();
  }

  /** Waits in these queues, for a second in total. */
  private async acquire(...queues: readonly Semaphore[]): Promise<PooledConnection> {
    if (this.availability.error) throw this.availability.error;
    const end = performance.now() + WAIT_MS;
    const releases: Release[] = [];
    const free = (): void => releases.forEach((release) => release());
    try {
      for (const queue of queues) releases.push(await queue.acquire(end - performance.now()));
      return new PooledConnection(this, await this.connect(), free);
    } catch (error) {
      free();
      throw this.availability.note(error);
    }
  }

  /** A connection that is not older than the last recovery. */
  private async connect(): Promise<PoolClient> {
    if (this.availability.error) throw this.availability.error;
    const client = await this.connections.connect();
    if (!this.availability.outdates(client)) return client;
    client.release(true);
    return this.connect();
  }
}

async function using<T>(
  connection: PooledConnection,
  work: (connection: PooledConnection) => Promise<T>,
): Promise<T> {
  try {
    const result = await work(connection);
    if (connection.isInTransaction) throw manualTransactionError();
    return result;
  } finally {
    connection.release();
  }
}

const ignored = (): void => undefined;
