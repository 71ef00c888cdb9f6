import {
  type DataSource,
  EntityManager,
  type EntityTarget,
  type InsertResult,
  type ObjectLiteral,
  type QueryRunner,
  TypeORMError,
} from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js';
import type { InsertBatches } from '../insert-batches.js';
import type { JoiningRunner } from './runner-transactions.js';

type Work<T> = (manager: EntityManager) => Promise<T>;

/** The frames of a DataSource, which passes a transaction on to its manager, and of the manager. */
const PASSED_ON = /(?:DataSource|EntityManager)\.transaction /;

/** An EntityManager in whose transactions every repository and manager takes part that is used in them. */
export class JoiningEntityManager extends EntityManager {
  /** `inserts` is called late: TypeORM's DataSource makes its manager before anything else. */
  constructor(
    dataSource: DataSource,
    queryRunner: QueryRunner | undefined,
    private readonly inserts: () => InsertBatches,
  ) {
    super(dataSource, queryRunner);
  }

  /** Outside of a transaction a row is committed together with those of concurrent requests, where the result is the same. */
  override async insert<Entity extends ObjectLiteral>(
    target: EntityTarget<Entity>,
    entity: QueryDeepPartialEntity<Entity> | QueryDeepPartialEntity<Entity>[],
  ): Promise<InsertResult> {
    const grouped = this.queryRunner ? undefined : this.inserts().insert(target, entity);
    return grouped ?? super.insert(target, entity);
  }

  override async transaction<T>(...args: [Work<T>] | [IsolationLevel, Work<T>]): Promise<T> {
    // TypeORM itself calls it with an undefined second argument.
    const [isolation, work] = typeof args[0] === 'function' ? [undefined, args[0]] : [args[0], args[1]];
    if (!work) throw new TypeORMError('transaction() needs a function.');
    const called = new Error('begun');
    const runner = this.runner();
    const options = { name: () => nameOf(called), isolation };
    try {
      return await runner.transactions.run(options, (inside) => inside(() => work(runner.manager)));
    } finally {
      if (runner !== this.queryRunner) await runner.release();
    }
  }

  override save(...args: unknown[]): never {
    return this.persist('save', args);
  }

  override remove(...args: unknown[]): never {
    return this.persist('remove', args);
  }

  override softRemove(...args: unknown[]): never {
    return this.persist('softRemove', args);
  }

  override recover(...args: unknown[]): never {
    return this.persist('recover', args);
  }

  /** TypeORM begins a transaction in these, in which subscribers and listeners of entities are called: they are to take part. */
  private persist(how: 'save' | 'remove' | 'softRemove' | 'recover', args: unknown[]): never {
    const persist = EntityManager.prototype[how] as (...args: unknown[]) => Promise<unknown>;
    const on = (manager: EntityManager) => persist.apply(manager, args);
    const { subscribers, entityMetadatas } = this.connection;
    const mayBeHeard =
      subscribers.length > 0 || entityMetadatas.some(({ listeners }) => listeners.length > 0);
    return (mayBeHeard && !this.queryRunner ? this.transaction(on) : on(this)) as never;
  }

  /** Two transactions side by side in another one must not share a runner, which would mix them up. */
  private runner(): JoiningRunner {
    const runner = (this.queryRunner ?? this.connection.createQueryRunner()) as JoiningRunner;
    return runner.isTransactionActive ? runner.transactions.nested() : runner;
  }
}

/** Names the caller: the nearest function that is not of TypeORM. */
function nameOf({ stack = '' }: Error): string {
  const frame = stack
    .split('\n')
    .slice(1)
    .find((line) => !PASSED_ON.test(line));
  return frame === undefined ? 'A transaction' : `The transaction ${frame.trim()}`;
}
