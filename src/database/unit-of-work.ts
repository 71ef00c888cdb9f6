import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';

/** Writes that belong together, and what follows once they are committed. */
export abstract class UnitOfWork {
  /** Reads and writes in the unit; so do, in a handler, all repositories and the DataSource. */
  constructor(readonly manager: EntityManager) {}

  /**
   * Inserts one row; what the database generates is then set on it. The fast way to add: rows of concurrent requests are
   * committed together.
   */
  abstract insert<T extends ObjectLiteral>(entity: EntityTarget<T>, row: T): Promise<void>;

  /** Calls back once everything written so far is committed; never when it is not. */
  abstract afterCommit(callback: () => void): void;
}
