import type { DataSource, EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';
import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import { AsyncContext } from '../async-context.js';
import { Transactions, type TransactionUnit, type UnitOptions } from '../transactions.js';
import { UnitOfWork } from '../unit-of-work.js';
import { SerialQueryRunner } from './serial-query-runner.js';
import type { SqliteConnection } from './sqlite-connection.js';
import type { StatementScope } from './statement-scope.js';
import { TransactionScope } from './transaction-scope.js';

/** The transactions on one SQLite connection. What stands in one, and so takes part in it, is told by the async context. */
export class SqliteTransactions extends Transactions {
  private readonly context = new AsyncContext<StatementScope>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly driver: SqliteDriver,
    private readonly connection: SqliteConnection,
  ) {
    super();
  }

  /** A query runner that takes part in what its caller stands in. */
  createQueryRunner(): SerialQueryRunner {
    return new SerialQueryRunner(this.driver, this.connection, this.context);
  }

  async unit<T>({ name, first }: UnitOptions, work: (unit: TransactionUnit) => Promise<T>): Promise<T> {
    const around = this.context.current()?.place() ?? this.connection;
    const scope = new TransactionScope(this.connection, around, {
      name: () => name,
      first: (within) => this.context.run(within, first),
    });
    const runner = new SerialQueryRunner(this.driver, this.connection, this.context, scope);
    const manager = this.dataSource.createEntityManager(runner);
    try {
      const result = await work(new ScopedUnit(manager, scope, (inside) => this.context.run(scope, inside)));
      await scope.commit();
      return result;
    } catch (error) {
      // The first error tells more than one of the rollback, which leaves nothing to undo either.
      await scope.rollback().catch(() => undefined);
      throw error;
    } finally {
      await runner.release();
    }
  }

  isInside(): boolean {
    return this.scope() !== undefined;
  }

  afterCommit(callback: () => void): void {
    (this.scope() ?? this.connection).afterCommit(callback);
  }

  outside<T>(work: () => T): T {
    return this.context.outside(work);
  }

  private scope(): StatementScope | undefined {
    const scope = this.context.current()?.place();
    return scope === this.connection ? undefined : scope;
  }
}

class ScopedUnit extends UnitOfWork implements TransactionUnit {
  constructor(
    manager: EntityManager,
    private readonly scope: TransactionScope,
    readonly inside: TransactionUnit['inside'],
  ) {
    super(manager);
  }

  async insert<T extends ObjectLiteral>(entity: EntityTarget<T>, row: T): Promise<void> {
    await this.manager.insert(entity, row);
  }

  afterCommit(callback: () => void): void {
    this.scope.afterCommit(callback);
  }
}
