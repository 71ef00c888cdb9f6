import type { QueryConfig, QueryResult } from 'pg';
import type { StatementScope } from '../scopes/statement-scope.js';
import { Semaphore } from '../scopes/semaphore.js';
import type { PooledConnection } from './postgres-pool.js';

/** Statements after whose failure a transaction continues, as it does on SQLite; PostgreSQL itself would end it. */
const UNDONE_ALONE = /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|MERGE)\b/i;

/** The connection that a transaction has for itself: its statements run on it one after the other. */
export class PostgresSession {
  /** A forced rollback waits here for the running statement: its sender must continue before the transaction is over. */
  private readonly turns = new Semaphore();

  /** With `isAllOrNothing` its transaction ends with the first statement that fails. */
  constructor(
    readonly connection: PooledConnection,
    private readonly isAllOrNothing: boolean,
  ) {}

  /** Sends a statement that begins a transaction. */
  async begin(isolation: string | undefined): Promise<void> {
    // Sent together with the first statement, which fails with it if the connection is lost.
    if (isolation === undefined) this.connection.control('BEGIN').catch(ignored);
    else await this.connection.control(`BEGIN ISOLATION LEVEL ${isolation}`);
  }

  /** Runs a statement of a scope in the transaction, so that it undoes itself alone when it fails. */
  run(scope: StatementScope, query: QueryConfig): Promise<QueryResult> {
    return this.turns.run(async () => {
      // Its transaction may have ended while it waited.
      scope.check();
      const isUndoneAlone = !this.isAllOrNothing && UNDONE_ALONE.test(query.text);
      const savepoint = `statement_${scope.depth}`;
      try {
        // Sent together with the statement, not before it.
        if (isUndoneAlone) this.aside(`SAVEPOINT ${savepoint}`);
        const result = await this.connection.query(query);
        if (isUndoneAlone) this.aside(`RELEASE SAVEPOINT ${savepoint}`);
        return result;
      } catch (error) {
        if (!isUndoneAlone || this.connection.isBroken || !(await this.isUndone(savepoint)))
          scope.fail(error);
        throw error;
      }
    });
  }

  /** Runs a statement that rolls the transaction back, or begins or ends one within it. */
  control(sql: string): Promise<void> {
    return this.turns.run(() => this.connection.control(sql));
  }

  /** Commits when nothing runs in the transaction any more. */
  commit(): Promise<QueryResult> {
    return this.connection.commit({ text: 'COMMIT' });
  }

  private aside(sql: string): void {
    this.connection.query({ text: sql }).catch(ignored);
  }

  private isUndone(savepoint: string): Promise<boolean> {
    return this.connection.query({ text: `ROLLBACK TO SAVEPOINT ${savepoint}` }).then(
      () => true,
      () => false,
    );
  }
}

const ignored = (): void => undefined;
