import {
  type DataSource,
  EntityManager,
  EntitySchema,
  type EntityTarget,
  type InsertResult,
  type ObjectLiteral,
  type QueryRunner,
  QueryRunnerProviderAlreadyReleasedError,
  type SaveOptions,
  TypeORMError,
} from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js';
import type { InsertBatches } from '../insert-batches.js';
import { calledBy } from './caller.js';
import type { JoiningRunner } from './runner-transactions.js';
import type { Transactions } from './transactions.js';

type Work<T> = (manager: EntityManager) => Promise<T>;

/** An EntityManager whose transactions are joined by every repository and manager used in them. */
export class JoiningEntityManager extends EntityManager {
  /** `parts` is a function because TypeORM's DataSource creates its manager first. */
  constructor(
    dataSource: DataSource,
    queryRunner: QueryRunner | undefined,
    private readonly parts: () => { readonly inserts: InsertBatches; readonly transactions: Transactions },
  ) {
    super(dataSource, queryRunner);
  }

  /** Outside of a transaction, a row may be committed together with those of concurrent requests, if the result is the same. */
  override async insert<Entity extends ObjectLiteral>(
    target: EntityTarget<Entity>,
    entity: QueryDeepPartialEntity<Entity> | QueryDeepPartialEntity<Entity>[],
  ): Promise<InsertResult> {
    const batched = this.queryRunner ? undefined : this.parts().inserts.insert(target, entity);
    return batched ?? super.insert(target, entity);
  }

  override async transaction<T>(...args: [Work<T>] | [IsolationLevel, Work<T>]): Promise<T> {
    // TypeORM itself calls it with an undefined second argument.
    const [isolation, work] = typeof args[0] === 'function' ? [undefined, args[0]] : [args[0], args[1]];
    if (!work) throw new TypeORMError('transaction() needs a function.');
    if (this.queryRunner?.isReleased) throw new QueryRunnerProviderAlreadyReleasedError();
    return this.parts().transactions.run(
      { name: calledBy(), isolation },
      (inside, manager) => inside(() => work(manager)),
      this.queryRunner as JoiningRunner | undefined,
    );
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

  /**
   * In these methods, TypeORM starts a transaction and calls the subscribers and listeners of entities, which must join it. Within a
   * transaction, each call has a savepoint, so that a failure undoes its rows and nothing else.
   */
  private persist(how: 'save' | 'remove' | 'softRemove' | 'recover', args: unknown[]): never {
    const persist = EntityManager.prototype[how] as (...args: unknown[]) => Promise<unknown>;
    const { subscribers, entityMetadatas } = this.connection;
    const hasListeners =
      subscribers.length > 0 || entityMetadatas.some(({ listeners }) => listeners.length > 0);
    const isNamed = typeof args[0] === 'function' || typeof args[0] === 'string';
    const options = args[isNamed || args[0] instanceof EntitySchema ? 2 : 1] as SaveOptions | undefined;
    const isPlain = this.queryRunner
      ? this.queryRunner.isReleased
      : options?.transaction === false || (!hasListeners && !this.parts().transactions.isInside());
    return (
      isPlain ? persist.apply(this, args) : this.transaction((manager) => persist.apply(manager, args))
    ) as never;
  }
}
