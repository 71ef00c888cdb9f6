import type { EntityManager } from 'typeorm';
import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import { AsyncContext, type Inside, type TransactionStart, Transactions } from '../transactions.js';
import { SerialQueryRunner } from './serial-query-runner.js';
import type { SqliteConnection } from './sqlite-connection.js';
import type { StatementScope } from './statement-scope.js';
import { TransactionScope } from './transaction-scope.js';

/** The transactions on one SQLite connection. The async context tells which of them the caller takes part in. */
export class SqliteTransactions extends Transactions {
  private readonly context = new AsyncContext<StatementScope>();

  constructor(
    private readonly driver: SqliteDriver,
    private readonly connection: SqliteConnection,
  ) {
    super();
  }

  /** A query runner that takes part in the transaction of its caller. */
  createQueryRunner(): SerialQueryRunner {
    return new SerialQueryRunner(this.driver, this.connection, this.context);
  }

  async run<T>({ name, first }: TransactionStart, work: (inside: Inside) => Promise<T>): Promise<T> {
    const around = this.context.current()?.place() ?? this.connection;
    const scope = new TransactionScope(this.connection, around, {
      name: () => name,
      first: (within) => this.context.run(within, first),
    });
    try {
      const result = await work((part) => this.context.run(scope, part));
      await scope.commit();
      return result;
    } catch (error) {
      // Within the context: what goes on beside the failure must still be known to be a part of it. The first error tells more
      // than one of the rollback, which leaves nothing to undo either.
      await this.context.run(scope, () => scope.rollback()).catch(() => undefined);
      throw error;
    }
  }

  async insideOf<T>({ queryRunner }: EntityManager, work: () => Promise<T>): Promise<T> {
    return queryRunner instanceof SerialQueryRunner ? queryRunner.inside(work) : work();
  }

  isInside(): boolean {
    const scope = this.context.current()?.place();
    return scope !== undefined && scope !== this.connection;
  }

  afterCommit(callback: () => void): void {
    (this.context.current() ?? this.connection).afterCommit(callback);
  }

  outside<T>(work: () => T): T {
    return this.context.outside(work);
  }

  /** Changes the user version of the file, which has no other use. */
  async touch(manager: EntityManager): Promise<void> {
    const [row] = await manager.query<{ user_version: number }[]>('PRAGMA user_version');
    await manager.query(`PRAGMA user_version = ${((row?.user_version ?? 0) + 1) % 2 ** 31}`);
  }
}
