import type { QueryConfig, QueryResult } from 'pg';
import { TypeORMError } from 'typeorm';
import { ApiError } from '../../core/errors/api-error.js';
import type { Release } from '../scopes/semaphore.js';
import type { StatementScope } from '../scopes/statement-scope.js';
import { ConnectionScope, type Transaction } from '../scopes/transaction.js';
import type { SharedDataVersion, SharedKind } from '../shared-data-version.js';
import { type ChangedTables, Changes } from './changed-tables.js';
import type { SentCommit } from './late-commits.js';
import type { PooledConnection, PostgresPool } from './postgres-pool.js';
import { PostgresSession } from './postgres-session.js';

/** Statements that change nothing, unless a function that they call does. */
const READS =
  /^\s*(?:(?:SELECT|SHOW|EXPLAIN(?!.*\bANALY[SZ]E\b)|SET(?!.*\bsearch_path\b)|SAVEPOINT|RELEASE|ROLLBACK)\b|WITH\b(?!.*\b(?:INSERT|UPDATE|DELETE|MERGE|INTO)\b))(?!.*;\s*\S)/is;

/**
 * The connections to PostgreSQL. What is in no transaction runs on any, beside everything else; a transaction has one for itself.
 */
export class PostgresConnection extends ConnectionScope {
  private readonly sessions = new WeakMap<StatementScope, PostgresSession>();

  constructor(
    private readonly pool: PostgresPool,
    private readonly dataVersion: SharedDataVersion,
    private readonly changed: ChangedTables,
  ) {
    super();
  }

  /** Statements outside of a transaction keep nobody waiting. */
  override take(): Promise<Release> {
    return Promise.resolve(keepsNothing);
  }

  /** Runs a statement in its scope. Throws service_unavailable when the database cannot run it. */
  run(scope: StatementScope, query: QueryConfig): Promise<QueryResult> {
    const session = this.sessionOf(scope);
    const isReading = READS.test(query.text) && !this.changed.callsWriter(query.text);
    if (!session && isReading) return this.pool.read((connection) => connection.query(query));
    const changes = session?.changes ?? new Changes();
    if (!isReading) this.changed.note(changes, query.text);
    return session ? session.run(scope, query) : this.alone(this.changed.kindsOf(changes), query);
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
    const kinds = this.changed.kindsOf(session.changes, invalidates);
    const done = await this.committed(kinds, () => Promise.resolve(session.commit()));
    // PostgreSQL responds to the COMMIT of a failed transaction with ROLLBACK, without an error.
    if (done.command !== 'COMMIT')
      throw new TypeORMError('The transaction was rolled back: one of its statements had failed.');
  }

  ended(transaction: Transaction): void {
    this.sessions.get(transaction)?.connection.release();
    this.sessions.delete(transaction);
  }

  /** The server commits it with its end. */
  private async alone(kinds: readonly SharedKind[], query: QueryConfig): Promise<QueryResult> {
    let connection: PooledConnection | undefined;
    try {
      return await this.committed(kinds, async () => {
        connection = await this.pool.takeToWrite();
        return connection.commit(query);
      });
    } finally {
      connection?.release();
    }
  }

  /** Commits so that no instance responds with stale cached data. */
  private async committed<T>(kinds: readonly SharedKind[], send: () => Promise<SentCommit<T>>): Promise<T> {
    try {
      return await this.dataVersion.commit(kinds, send);
    } catch (error) {
      throw error instanceof ApiError ? error : this.pool.troubles.note(error);
    }
  }

  private sessionOf(scope: StatementScope): PostgresSession | undefined {
    let one: StatementScope | undefined = scope;
    while (one && !this.sessions.has(one)) one = one.around;
    return one && this.sessions.get(one);
  }
}

const keepsNothing: Release = () => undefined;
