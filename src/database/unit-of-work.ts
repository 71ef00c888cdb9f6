import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';
import type { GroupedInserts } from './grouped-inserts.js';

/** Writes that belong together, and what follows once they are committed. */
export abstract class UnitOfWork {
  /** Every write and read of the unit goes through this manager, and through no repository of its own. */
  constructor(readonly manager: EntityManager) {}

  /**
   * Inserts one row; what the database generates is then set on it. The fast way to add: rows of concurrent requests are
   * committed together.
   */
  abstract insert<T extends ObjectLiteral>(entity: EntityTarget<T>, row: T): Promise<void>;

  /** Calls back once everything written so far is committed; never when it is not. */
  abstract afterCommit(callback: () => void): void;
}

/** A unit in which every statement commits by itself. */
export class SingleStatements extends UnitOfWork {
  constructor(
    manager: EntityManager,
    private readonly inserts: GroupedInserts,
  ) {
    super(manager);
  }

  insert<T extends ObjectLiteral>(entity: EntityTarget<T>, row: T): Promise<void> {
    return this.inserts.insert(entity, row);
  }

  afterCommit(callback: () => void): void {
    callback();
  }
}

/** A unit that is one transaction; whoever commits it tells so. */
export class OneTransaction extends UnitOfWork {
  private readonly callbacks: (() => void)[] = [];

  async insert<T extends ObjectLiteral>(entity: EntityTarget<T>, row: T): Promise<void> {
    await this.manager.insert(entity, row);
  }

  afterCommit(callback: () => void): void {
    this.callbacks.push(callback);
  }

  /** Calls back everybody who waits for the commit, which has happened. */
  committed(): void {
    for (const callback of this.callbacks) callback();
  }
}
