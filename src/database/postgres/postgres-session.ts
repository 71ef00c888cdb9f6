import type { PoolClient, QueryResult as DriverResult } from 'pg';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import type { StatementScope } from '../scopes/statement-scope.js';
import type { Query } from './late-commits.js';
import { meaningOf } from './postgres-errors.js';
import { answeredWithin, limitInTransaction } from './limited-statements.js';
import type { PostgresPool } from './postgres-pool.js';
import { WaitedTooLong } from './request-waits.js';

/** Statements after whose failure a transaction goes on, as it does on SQLite; PostgreSQL itself would end it. */
const UNDONE_ALONE = /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|MERGE)\b/i;

/**
 * Statements that are sent however long the request has waited: without its BEGIN what follows would be committed alone, and what was
 * begun must be undone.
 */
const ALWAYS_SENT = /^(?:BEGIN|ROLLBACK)\b/;

/** What ends a transaction so that others see it. */
const COMMIT = 'COMMIT';

/** Runs a statement by TypeORM's runner on one connection. */
export type RunOn = (runner: RunnerOn) => Promise<unknown>;

/** The connection that a transaction has for itself: its statements run on it one after the other. */
export class PostgresSession {
  /** Whether a statement of it may have written. */
  hasWritten = false;
  /** Whether the connection is in a state that nobody knows: then it must not be used again. */
  isBroken = false;
  private readonly runner: RunnerOn;
  private running: Promise<void> | undefined;

  /** With `isAllOrNothing` its transaction ends with the first statement that fails. */
  constructor(
    readonly client: PoolClient,
    private readonly driver: PostgresDriver,
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
  run(scope: StatementScope, sql: string, isReading: boolean, run: RunOn): Promise<unknown> {
    return this.inTurn(async () => {
      // Its transaction may have ended while it waited.
      scope.check();
      this.hasWritten ||= !isReading;
      const isUndoneAlone = !this.isAllOrNothing && UNDONE_ALONE.test(sql);
      const undoTo = isUndoneAlone ? `statement_${depthOf(scope)}` : undefined;
      try {
        const result = await this.pool.waits.wait((limitMs) => this.sendIn(undoTo, limitMs, run));
        if (undoTo !== undefined) this.client.query(`RELEASE SAVEPOINT ${undoTo}`).catch(ignored);
        return result;
      } catch (error) {
        throw await this.failed(scope, error, undoTo);
      }
    });
  }

  /** Runs a statement that ends the transaction, or begins or ends one within it. */
  command(sql: string): Promise<DriverResult> {
    return this.inTurn(() => this.send(sql));
  }

  /** Sends the savepoint and the limit of a statement together with it, not before it. */
  private sendIn(undoTo: string | undefined, limitMs: number | undefined, run: RunOn): Promise<unknown> {
    if (limitMs !== undefined) limitInTransaction(this.client, limitMs);
    if (undoTo !== undefined) this.client.query(`SAVEPOINT ${undoTo}`).catch(ignored);
    if (limitMs === undefined) return run(this.runner);
    const ask = (query: Query) => this.client.query({ ...query, ...answeredWithin(limitMs) });
    return run(new RunnerOn(this.driver, this.client, ask));
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

  private async send(sql: string): Promise<DriverResult> {
    const { waits, troubles } = this.pool;
    const run = (limitMs: number | undefined) => this.answered(sql, limitMs);
    try {
      return await (ALWAYS_SENT.test(sql) ? waits.ending(run) : waits.wait(run));
    } catch (error) {
      // What was not sent at all leaves the connection as it is, to be rolled back.
      this.isBroken ||= !(error instanceof WaitedTooLong);
      throw troubles.note(error, this.client);
    }
  }

  private async answered(sql: string, limitMs: number | undefined): Promise<DriverResult> {
    if (sql === COMMIT) return this.pool.late.commit(this.client, { text: sql }, limitMs);
    try {
      return await this.client.query({ text: sql, ...answeredWithin(limitMs) });
    } catch (error) {
      if (limitMs === undefined || meaningOf(error) !== 'away') throw error;
      throw new Error(`${sql} was not answered in time`, { cause: error });
    }
  }

  /** What to throw for a statement that failed, after its effects on the transaction were undone. */
  private async failed(scope: StatementScope, error: unknown, undoTo: string | undefined): Promise<unknown> {
    const refusal = this.pool.troubles.note(error, this.client);
    const meaning = meaningOf(error);
    const isOver = meaning === 'lost' || meaning === 'away' || meaning === 'late' || meaning === 'read-only';
    if (!isOver && undoTo !== undefined) {
      try {
        const undo = `ROLLBACK TO SAVEPOINT ${undoTo}`;
        await this.pool.waits.ending((limitMs) => this.answered(undo, limitMs));
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

/** TypeORM's query runner on a connection that it did not take itself; `ask` sends what must not wait as long as others. */
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

function depthOf(scope: StatementScope): number {
  return scope.outer ? 1 + depthOf(scope.outer) : 0;
}
