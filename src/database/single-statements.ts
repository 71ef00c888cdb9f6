import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';
import type { GroupedInserts } from './grouped-inserts.js';
import { UnitOfWork } from './unit-of-work.js';

/** A unit in which every statement commits by itself, but for those in a transaction that the handler makes. */
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
    this.inserts.transactions.afterCommit(callback);
  }
}
