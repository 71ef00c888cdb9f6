import type { QueryConfig, QueryResult } from 'pg';
import { TypeORMError } from 'typeorm';
import type { Release } from '../scopes/semaphore.js';
import type { StatementScope } from '../scopes/statement-scope.js';
import { ConnectionScope, type Transaction } from '../scopes/transaction.js';
import type { PostgresPool } from './postgres-pool.js';
import { PostgresSession } from './postgres-session.js';

/**
 * Statements that begin like a read: they take no place of a write, and continue while commits hang. One that writes nevertheless, by a
 * function, is refused with 503 when its commit hangs.
 */
const READS = /^\s*(?:SELECT|SHOW|EXPLAIN|SET|WITH(?!.*\b(?:INSERT|UPDATE|DELETE|MERGE)\b))\b/is;

/**
 * The connections to PostgreSQL. What is in no transaction runs on any, beside everything else; a transaction has one for itself.
 */
export class PostgresConnection extends ConnectionScope {
  private readonly sessions = new WeakMap<StatementScope, PostgresSession>();

  constructor(private readonly pool: PostgresPool) {
    super();
  }

  /** Statements outside of a transaction keep nobody waiting. */
  override take(): Promise<Release> {
    return Promise.resolve(keepsNothing);
  }

  /** Runs a statement in its scope. Throws service_unavailable when the database cannot run it. */
  run(scope: StatementScope, query: QueryConfig): Promise<QueryResult> {
    const session = this.sessionOf(scope);
    if (session) return session.run(scope, query);
    return READS.test(query.text)
      ? this.pool.read((connection) => connection.query(query))
      : this.pool.write((connection) => connection.commit(query));
  }

  async control(transaction: Transaction, command: string): Promise<void> {
    const { isolation, invalidates } = transaction.options;
    if (command === 'BEGIN') {
      const begun = new PostgresSession(await this.pool.takeToWrite(), invalidates !== undefined);
      this.sessions.set(transaction, begun);
      return begun.begin(isolation);
    }
    const session = this.sessionOf(transaction);
    // The server undoes it when the connection is closed, or has received its commit.
    if (!session || (session.connection.isBroken && command === 'ROLLBACK')) return;
    if (command !== 'COMMIT') return session.control(command);
    const done = await session.commit();
    // PostgreSQL responds to the COMMIT of a failed transaction with ROLLBACK, without an error.
    if (done.command !== 'COMMIT')
      throw new TypeORMError('The transaction was rolled back: one of its statements had failed.');
  }

  ended(transaction: Transaction): void {
    this.sessions.get(transaction)?.connection.release();
    this.sessions.delete(transaction);
  }

  private sessionOf(scope: StatementScope): PostgresSession | undefined {
    let one: StatementScope | undefined = scope;
    while (one && !this.sessions.has(one)) one = one.around;
    return one && this.sessions.get(one);
  }
}

const keepsNothing: Release = () => undefined;
