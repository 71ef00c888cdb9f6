import type { PoolClient, QueryResult as DriverResult } from 'pg';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import type { StatementScope } from '../scopes/statement-scope.js';
import type { AskBehind } from '../shared-data-version.js';
import { Changes } from './changed-tables.js';
import type { Query } from './late-commits.js';
import { meaningOf } from './postgres-errors.js';
import type { PostgresPool } from './postgres-pool.js';

/** Statements after whose failure a transaction goes on, as it does on SQLite; PostgreSQL itself would end it. */
const UNDONE_ALONE = /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|MERGE)\b/i;

/** What ends a transaction so that others see it. */
const COMMIT = 'COMMIT';

/** Runs a statement by TypeORM's runner on one connection. */
export type RunOn = (runner: RunnerOn) => Promise<unknown>;

/** The connection that a transaction has for itself: its statements run on it one after the other. */
export class PostgresSession {
  /** What its statements may have written. */
  readonly changes = new Changes();
  /** Whether the connection is in a state that nobody knows: then it must not be used again. */
  isBroken = false;
  private readonly runner: RunnerOn;
  private running: Promise<void> | undefined;

  /** With `isAllOrNothing` its transaction ends with the first statement that fails. */
  constructor(
    readonly client: PoolClient,
    driver: PostgresDriver,
    private readonly pool: PostgresPool,
    private readonly isAllOrNothing: boolean,
  ) {
    this.runner = new RunnerOn(driver, client);
  }

  /** Sends a statement that begins a transaction. */
  async begin(isolation: string | undefined): Promise<void> {
    const begun = this.send(`BEGIN${isolation === undefined ? '' : ` ISOLATION LEVEL ${isolation}`}`);
    // Sent together with the first statement, which fails with it if the connection is lost.
    if (isolation === undefined) begun.catch(ignored);
    else await begun;
  }

  /** Runs a statement of a scope in the transaction, so that it undoes itself alone when it fails. */
  run(scope: StatementScope, sql: string, run: RunOn): Promise<unknown> {
    return this.inTurn(async () => {
      // Its transaction may have ended while it waited.
      scope.check();
      const isUndoneAlone = !this.isAllOrNothing && UNDONE_ALONE.test(sql);
      const undoTo = isUndoneAlone ? `statement_${scope.depth}` : undefined;
      try {
        const result = await this.sendIn(undoTo, run);
        if (undoTo !== undefined) this.client.query(`RELEASE SAVEPOINT ${undoTo}`).catch(ignored);
        return result;
      } catch (error) {
        throw await this.failed(scope, error, undoTo);
      }
    });
  }

  /** Runs a statement that ends the transaction, or begins or ends one within it. `behind` is called when a COMMIT has been sent. */
  command(sql: string, behind?: (ask: AskBehind) => void): Promise<DriverResult> {
    return this.inTurn(() => this.send(sql, behind));
  }

  /** Sends the savepoint of a statement together with it, not before it. */
  private sendIn(undoTo: string | undefined, run: RunOn): Promise<unknown> {
    if (undoTo !== undefined) this.client.query(`SAVEPOINT ${undoTo}`).catch(ignored);
    return run(this.runner);
  }

  /**
   * Waits for the statement that runs. A forced rollback does not wait for its turn in the scope: who has sent that statement must go
   * on before the transaction is over.
   */
  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    while (this.running) await this.running;
    let end!: () => void;
    this.running = new Promise((resolve) => (end = resolve));
    try {
      return await work();
    } finally {
      this.running = undefined;
      end();
    }
  }

  private async send(sql: string, behind?: (ask: AskBehind) => void): Promise<DriverResult> {
    try {
      return await (sql === COMMIT
        ? this.pool.late.commit(this.client, { text: sql }, behind)
        : this.client.query(sql));
    } catch (error) {
      this.isBroken = true;
      throw this.pool.troubles.note(error, this.client);
    }
  }

  /** What to throw for a statement that failed, after its effects on the transaction were undone. */
  private async failed(scope: StatementScope, error: unknown, undoTo: string | undefined): Promise<unknown> {
    const refusal = this.pool.troubles.note(error, this.client);
    const meaning = meaningOf(error);
    const isOver = meaning === 'lost' || meaning === 'away' || meaning === 'late' || meaning === 'read-only';
    if (!isOver && undoTo !== undefined) {
      try {
        await this.client.query(`ROLLBACK TO SAVEPOINT ${undoTo}`);
        return refusal;
      } catch (second) {
        this.pool.troubles.note(second, this.client);
      }
    }
    this.isBroken ||= isOver;
    scope.fail(refusal);
    return refusal;
  }
}

/** TypeORM's query runner on a connection that it did not take itself; `ask` sends what commits. */
export class RunnerOn extends PostgresQueryRunner {
  constructor(
    driver: PostgresDriver,
    private readonly client: PoolClient,
    private readonly ask?: (query: Query) => Promise<DriverResult>,
  ) {
    super(driver, 'master');
  }

  override connect(): Promise<Pick<PoolClient, 'query'>> {
    const { client, ask } = this;
    if (!ask) return Promise.resolve(client);
    const query = (text: string, values: unknown[]) => ask({ text, values });
    return Promise.resolve({ query } as unknown as PoolClient);
  }
}

const ignored = (): void => undefined;
