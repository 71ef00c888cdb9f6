import pg from 'pg';
import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import { firstWords } from '../statements.js';
import type { Release } from '../transactions/semaphore.js';
import { isReadOnly, errorKindOf } from './postgres-errors.js';
import { RESPONSE_GRACE_MS, type PostgresOptions } from './postgres-options.js';
import type { PostgresTroubles } from './postgres-troubles.js';

/** For pg, which closes the socket after its own limit, in milliseconds: the maximum of a timer. */
const NO_TIMEOUT: object = { query_timeout: 2 ** 31 - 1 };
/** A statement behind which a write fails on a server that accepts writes. */
const FORBIDS_WRITES = firstWords('SET\\b.*READ[\\s_]+ONLY');

/** What a connection needs of its pool. */
interface ConnectionPool {
  readonly options: PostgresOptions;
  readonly troubles: PostgresTroubles;
  /** The commit of a connection is late, or is so no longer. */
  addLateCommit(connection: PooledConnection): void;
  removeLateCommit(connection: PooledConnection): void;
}

/**
 * A connection of the pool that is in use. A failure of the server is thrown as service_unavailable.
 *
 * No limit of the server ends a commit that waits for a standby. If its connection were given up, the next write would hang in another,
 * until the server has none left. So a connection has two users: its caller, and a commit that is late. When neither uses it any more, it
 * is given back.
 */
export class PooledConnection {
  /** Whether the state of the connection is unknown: then it is closed. */
  isBroken = false;
  private hasCaller = true;
  private hasLateCommit = false;
  private forbidsWrites = false;

  constructor(
    private readonly pool: ConnectionPool,
    readonly client: PoolClient,
    private readonly releaseTurn: Release,
  ) {}

  /** Runs a statement. */
  query(query: QueryConfig): Promise<QueryResult> {
    this.forbidsWrites ||= FORBIDS_WRITES.test(query.text);
    return this.translateError(this.client.query(query));
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

  /** Runs a statement that commits. When it is not confirmed in time, the server may carry it out later. */
  commit(query: QueryConfig): Promise<QueryResult> {
    const { statementTimeoutMs } = this.pool.options;
    if (statementTimeoutMs === 0) return this.query(query);
    const confirmed = new Promise<QueryResult>((resolve, reject) => {
      const limit = setTimeout(() => {
        this.hasLateCommit = true;
        this.pool.addLateCommit(this);
        reject(new Error('a commit was not confirmed in time'));
      }, statementTimeoutMs + RESPONSE_GRACE_MS);
      const settle = (): void => {
        clearTimeout(limit);
        this.abandonCommit();
      };
      this.client
        .query({ ...query, ...NO_TIMEOUT })
        .finally(settle)
        .then(resolve, reject);
    });
    return this.translateError(confirmed);
  }

  /** Whether a transaction is open on it. */
  get isInTransaction(): boolean {
    return this.client.getTransactionStatus() !== 'I';
  }

  /** Ends its use by the caller. */
  release(): void {
    this.hasCaller = false;
    this.releaseIfUnused();
  }

  /** Ends its use by a late commit: the server has responded, the connection is lost, or a trouble is over. */
  abandonCommit(): void {
    if (!this.hasLateCommit) return;
    this.hasLateCommit = false;
    this.pool.removeLateCommit(this);
    this.releaseIfUnused();
  }

  private releaseIfUnused(): void {
    if (this.hasCaller || this.hasLateCommit) return;
    this.client.release(this.isBroken || this.isInTransaction || this.pool.troubles.outdates(this.client));
    this.releaseTurn();
  }

  private async translateError<T>(response: Promise<T>): Promise<T> {
    try {
      return await response;
    } catch (error) {
      if (this.forbidsWrites && isReadOnly(error)) throw error;
      const meaning = errorKindOf(error);
      this.isBroken ||= meaning !== 'other' && meaning !== 'busy';
      throw this.pool.troubles.note(error, this.client);
    }
  }
}

/** A client with the time at which it was created, by `performance.now()`. */
export class TimedClient extends pg.Client {
  readonly startedAt = performance.now();
}
