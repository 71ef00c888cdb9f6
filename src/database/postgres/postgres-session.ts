import type { QueryConfig, QueryResult } from 'pg';
import { QueryFailedError, TypeORMError } from 'typeorm';
import { Semaphore } from '../transactions/semaphore.js';
import { startsWith } from '../statements.js';
import type { TransactionOptions, TransactionSession } from '../transactions/transaction-session.js';
import { isServerError } from './postgres-errors.js';
import type { PooledConnection } from './pooled-connection.js';
import type { PostgresPool } from './postgres-pool.js';

/** Statements that control the transaction, which cannot run in a savepoint. */
const TRANSACTION_CONTROL = startsWith(
  'SET|BEGIN|START|COMMIT|END|ROLLBACK|ABORT|SAVEPOINT|RELEASE|PREPARE\\s+TRANSACTION',
);

/** The connection of a transaction. Its statements run one after the other. */
export class PostgresSession implements TransactionSession {
  /** A rollback waits here for the running statement, because its sender must continue before the transaction ends. */
  private readonly permits = new Semaphore();
  /** Why it accepts only a rollback. */
  private failure: unknown;

  /** With `isAllOrNothing`, the transaction ends with the first statement that fails. */
  private constructor(
    private readonly connection: PooledConnection,
    private readonly isAllOrNothing: boolean,
  ) {}

  /** Starts a transaction on a connection of the pool. */
  static async open(
    pool: PostgresPool,
    { isolation, invalidates }: TransactionOptions,
  ): Promise<PostgresSession> {
    const connection = await pool.acquireForWrite();
    // Sent together with the first statement, which fails as well if the connection is lost.
    connection.control(isolation ? `BEGIN ISOLATION LEVEL ${isolation}` : 'BEGIN').catch(ignored);
    return new PostgresSession(connection, invalidates !== undefined);
  }

  /** Runs a statement in the transaction so that a failure undoes only the statement, as on SQLite. */
  send(query: QueryConfig): Promise<QueryResult> {
    return this.permits.run(async () => {
      if (this.failure !== undefined) throw this.failure;
      const usesSavepoint = !this.isAllOrNothing && !TRANSACTION_CONTROL.test(query.text);
      try {
        // Sent together with the statement, not before it.
        if (usesSavepoint) this.sendUnawaited('SAVEPOINT statement');
        const result = await this.connection.query(query);
        if (usesSavepoint) this.sendUnawaited('RELEASE SAVEPOINT statement');
        return result;
      } catch (error) {
        if (!usesSavepoint || this.connection.isBroken || !(await this.rollBackStatement()))
          this.failure = error;
        throw error;
      }
    });
  }

  control(sql: string): Promise<void> {
    return this.permits.run(() => this.connection.control(sql));
  }

  rollbackTo(savepoint: string): Promise<void> {
    return this.control(rollbackToSql(savepoint));
  }

  async commit(): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    const done = await this.connection.commit({ text: 'COMMIT' }).catch((error: unknown) => {
      throw isServerError(error) ? new QueryFailedError('COMMIT', [], error as Error) : error;
    });
    // PostgreSQL responds to the COMMIT of a failed transaction with ROLLBACK, without an error.
    if (done.command !== 'COMMIT')
      throw new TypeORMError('The transaction was rolled back: one of its statements had failed.');
  }

  async rollback(): Promise<void> {
    await this.permits.run(async () => {
      // The server rolls back when the connection is closed, unless it has received the commit.
      if (!this.connection.isBroken) await this.connection.control('ROLLBACK');
    });
  }

  release(): void {
    this.connection.release();
  }

  private sendUnawaited(sql: string): void {
    this.connection.query({ text: sql }).catch(ignored);
  }

  private rollBackStatement(): Promise<boolean> {
    return this.connection.query({ text: rollbackToSql('statement') }).then(
      () => true,
      () => false,
    );
  }
}

/** Releases the savepoint as well, because each open savepoint holds a lock, of which the server has few. */
function rollbackToSql(savepoint: string): string {
  return `ROLLBACK TO SAVEPOINT ${savepoint}; RELEASE SAVEPOINT ${savepoint}`;
}

const ignored = (): void => undefined;
