import type { EntityManager } from 'typeorm';
import { AsyncContext, type Inside, type TransactionStart, Transactions } from '../transactions.js';
import type { ConnectionScope } from './connection-scope.js';
import { type RunnerHome, scopesOf } from './runner-scopes.js';
import type { StatementScope } from './statement-scope.js';
import { TransactionScope } from './transaction-scope.js';

/** The transactions of a database. The async context tells which of them the caller takes part in. */
export abstract class ScopedTransactions extends Transactions {
  private readonly context = new AsyncContext<StatementScope>();

  constructor(private readonly connection: ConnectionScope) {
    super();
  }

  /** Where query runners work that take part in the transaction of their caller. */
  get home(): RunnerHome {
    return { connection: this.connection, context: this.context };
  }

  async run<T>({ name, first }: TransactionStart, work: (inside: Inside) => Promise<T>): Promise<T> {
    const around = this.context.current()?.active() ?? this.connection;
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
    return scopesOf(queryRunner)?.inside(work) ?? work();
  }

  isInside(): boolean {
    const scope = this.context.current()?.active();
    return scope !== undefined && scope !== this.connection;
  }

  afterCommit(callback: () => void): void {
    (this.context.current() ?? this.connection).afterCommit(callback);
  }

  outside<T>(work: () => T): T {
    return this.context.outside(work);
  }
}
