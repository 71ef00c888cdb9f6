import type { PoolClient, QueryResult } from 'pg';
import { TypeORMError } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { ApiError } from '../../core/errors/api-error.js';
import type { GiveBack } from '../scopes/turns.js';
import type { StatementScope } from '../scopes/statement-scope.js';
import { ConnectionScope, type Transaction } from '../scopes/transaction.js';
import type { AskBehind, Commit, SharedDataVersion, SharedKind } from '../shared-data-version.js';
import { type ChangedTables, Changes } from './changed-tables.js';
import { type Query, lateCommitOf } from './late-commits.js';
import { meaningOf } from './postgres-errors.js';
import { type PostgresPool, breaks } from './postgres-pool.js';
import { PostgresSession, type RunOn, RunnerOn } from './postgres-session.js';

/** Statements that certainly change nothing, unless a function that they call does. */
const READS =
  /^\s*(?:(?:SELECT|SHOW|EXPLAIN(?!.*\bANALYZE\b)|SET(?!.*\bsearch_path\b)|SAVEPOINT|RELEASE|ROLLBACK)\b|WITH\b(?!.*\b(?:INSERT|UPDATE|DELETE|MERGE|INTO)\b))(?!.*;\s*\S)/is;

/**
 * The connections to PostgreSQL. What is in no transaction runs on any, beside everything else; a transaction has one for itself.
 */
export class PostgresConnection extends ConnectionScope {
  private readonly sessions = new WeakMap<StatementScope, PostgresSession>();

  constructor(
    private readonly driver: PostgresDriver,
    private readonly pool: PostgresPool,
    private readonly dataVersion: SharedDataVersion,
    private readonly changed: ChangedTables,
  ) {
    super();
  }

  /** Statements outside of a transaction keep nobody waiting. */
  override take(): Promise<GiveBack> {
    return Promise.resolve(keepsNothing);
  }

  /** Runs a statement in its scope. Throws service_unavailable when the database cannot run it. */
  async run(
    scope: StatementScope,
    sql: string,
    parameters: unknown[],
    structured: boolean,
  ): Promise<unknown> {
    scope.check();
    const session = this.sessionOf(scope);
    const isReading = READS.test(sql);
    const run: RunOn = (runner) => runner.query(sql, parameters, structured);
    if (session) {
      if (!isReading) this.changed.note(session.changes, sql);
      return session.run(scope, sql, run);
    }
    if (isReading) return this.alone(run);
    const changes = new Changes();
    this.changed.note(changes, sql);
    return this.committing(this.changed.kindsOf(changes), (behind) => this.aloneCommitting(run, behind));
  }

  async control(transaction: Transaction, command: string): Promise<void> {
    const { isolation, changes } = transaction.options;
    if (command === 'BEGIN') {
      const client = await this.pool.takeToWrite();
      const begun = new PostgresSession(client, this.driver, this.pool, changes !== undefined);
      this.sessions.set(transaction, begun);
      return begun.begin(isolation);
    }
    const session = this.sessionOf(transaction);
    // The server undoes it when the connection is closed, or has been told to commit it.
    if (!session || (session.isBroken && command === 'ROLLBACK')) return;
    const kinds = command === 'COMMIT' ? this.changed.kindsOf(session.changes, changes) : [];
    const done = await this.committing(kinds, (behind) => session.command(command, behind));
    // PostgreSQL answers the COMMIT of a failed transaction by a ROLLBACK, without an error.
    if (!command.startsWith(done.command))
      throw new TypeORMError('The transaction was rolled back: one of its statements had failed.');
  }

  ended(transaction: Transaction): void {
    const session = this.sessions.get(transaction);
    this.sessions.delete(transaction);
    if (session) this.pool.giveBack(session.client, session.isBroken);
  }

  /** Commits so that no instance answers from a cache what was before. */
  private async committing<T>(kinds: readonly SharedKind[], commit: Commit<T>): Promise<T> {
    try {
      return await this.dataVersion.commit(kinds, commit, whenOver);
    } catch (error) {
      throw error instanceof ApiError ? error : this.pool.troubles.note(error);
    }
  }

  private async alone(run: RunOn): Promise<unknown> {
    const client = await this.pool.take();
    return this.on(client, run);
  }

  /** The server commits it with its end, and does not limit how long that takes. */
  private async aloneCommitting(run: RunOn, behind?: (ask: AskBehind) => void): Promise<unknown> {
    const client = await this.pool.takeToWrite();
    return this.on(client, run, (query) => this.pool.late.commit(client, query, behind));
  }

  private async on(
    client: PoolClient,
    run: RunOn,
    ask?: (query: Query) => Promise<QueryResult>,
  ): Promise<unknown> {
    let isBroken = false;
    try {
      return await run(new RunnerOn(this.driver, client, ask));
    } catch (error) {
      isBroken = breaks(error);
      throw this.pool.troubles.note(error, client);
    } finally {
      this.pool.giveBack(client, isBroken);
    }
  }

  private sessionOf(scope: StatementScope): PostgresSession | undefined {
    let one: StatementScope | undefined = scope;
    while (one && !this.sessions.has(one)) one = one.around;
    return one && this.sessions.get(one);
  }
}

/** Resolves when it is certain that a commit that failed is carried out or never will be; undefined when nobody will know. */
function whenOver(error: unknown): Promise<void> | undefined {
  const late = lateCommitOf(error);
  if (late) return late.over;
  const meaning = meaningOf(error instanceof ApiError ? (error.cause ?? error) : error);
  return meaning === 'lost' || meaning === 'away' || meaning === 'late' ? undefined : OVER;
}

const OVER = Promise.resolve();

const keepsNothing: GiveBack = () => undefined;
