import pg from 'pg';
import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import { startsWith } from '../statements.js';
import type { Release } from '../transactions/semaphore.js';
import { isReadOnly, errorKindOf } from './postgres-errors.js';
import { RESPONSE_GRACE_MS, type PostgresOptions } from './postgres-options.js';
import type { PostgresAvailability } from './postgres-availability.js';

/** Disables pg's own timeout, which would close the socket: the maximum of a timer, in milliseconds. */
const NO_TIMEOUT: object = { query_timeout: 2 ** 31 - 1 };
/** Matches statements after which a write fails even on a server that accepts writes. */
const FORBIDS_WRITES = startsWith('SET\\b.*READ[\\s_]+ONLY');

interface ConnectionPool {
  readonly options: PostgresOptions;
  readonly availability: PostgresAvailability;
  addLateCommit(connection: PooledConnection): void;
  removeLateCommit(connection: PooledConnection): void;
}

/**
 * A pool connection in use. Failures of the server are thrown as service_unavailable. The server has no time limit for a commit that waits
 * for a standby. If its connection were closed, the next write would hang on another one, until the server has none left. Therefore a
 * connection has two users, its caller and a late commit, and returns to the pool when neither uses it.
 */
export class PooledConnection {
  /** Whether the state of the connection is unknown, so that it must be closed. */
  isBroken = false;
  private hasCaller = true;
  private hasLateCommit = false;
  private forbidsWrites = false;

  constructor(
    private readonly pool: ConnectionPool,
    readonly client: PoolClient,
    private readonly releaseTurn: Release,
  ) {}

  query(query: QueryConfig): Promise<QueryResult> {
    this.forbidsWrites ||= FORBIDS_WRITES.test(query.text);
    return this.translateError(this.client.query(query));
  }

  /** Runs a statement that starts or ends a transaction. If it fails, it is unknown whether a transaction is open. */
  async control(text: string): Promise<void> {
    try {
      await this.query({ text });
    } catch (error) {
      this.isBroken = true;
      throw error;
    }
  }

  /** Runs a statement that commits. If it is not confirmed in time, the server may still commit later. */
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

  get isInTransaction(): boolean {
    return this.client.getTransactionStatus() !== 'I';
  }

  /** Releases the caller's use. */
  release(): void {
    this.hasCaller = false;
    this.releaseIfUnused();
  }

  /** Releases the use by a late commit: the server has responded, the connection is lost, or the server has recovered. */
  abandonCommit(): void {
    if (!this.hasLateCommit) return;
    this.hasLateCommit = false;
    this.pool.removeLateCommit(this);
    this.releaseIfUnused();
  }

  private releaseIfUnused(): void {
    if (this.hasCaller || this.hasLateCommit) return;
    this.client.release(
      this.isBroken || this.isInTransaction || this.pool.availability.outdates(this.client),
    );
    this.releaseTurn();
  }

  private async translateError<T>(response: Promise<T>): Promise<T> {
    try {
      return await response;
    } catch (error) {
      if (this.forbidsWrites && isReadOnly(error)) throw error;
      const meaning = errorKindOf(error);
      this.isBroken ||= meaning !== 'other' && meaning !== 'busy';
      throw this.pool.availability.note(error, this.client);
    }
  }
}

/** A client with its creation time, as a value of `performance.now()`. */
export class TimedClient extends pg.Client {
  readonly startedAt = performance.now();
}
