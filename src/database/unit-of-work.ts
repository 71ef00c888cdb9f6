import type { EntityManager } from 'typeorm';

/** Writes that belong together, and what follows once they are committed. */
export abstract class UnitOfWork {
  /** Every write and read of the unit goes through this manager, and through no repository of its own. */
  constructor(readonly manager: EntityManager) {}

  /** Calls back once everything written so far is committed; never when it is not. */
  abstract afterCommit(callback: () => void): void;
}

/** A unit in which every statement commits by itself. */
export class SingleStatements extends UnitOfWork {
  afterCommit(callback: () => void): void {
    callback();
  }
}

/** A unit that is one transaction; whoever commits it tells so. */
export class OneTransaction extends UnitOfWork {
  private readonly callbacks: (() => void)[] = [];

  afterCommit(callback: () => void): void {
    this.callbacks.push(callback);
  }

  /** Calls back everybody who waits for the commit, which has happened. */
  committed(): void {
    for (const callback of this.callbacks) callback();
  }
}
