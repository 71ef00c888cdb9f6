import { Logger } from '@nestjs/common';
import { TypeORMError } from 'typeorm';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js';
import { IDLE_MS } from './activity.js';
import type { AsyncContext } from './async-context.js';
import { Savepoint } from './savepoint.js';
import { Transaction } from './transaction.js';
import { type TransactionOptions, type TransactionSession, isWeaker } from './transaction-session.js';

const logger = new Logger('Database');

/** The database of a transaction. */
export interface TransactionHome {
  /** Finds the caller's transaction. */
  readonly context: AsyncContext<Transaction>;
  readonly isolation: IsolationLevel;
  /** Whether transactions may be idle, as during migrations. */
  readonly allowsIdling: boolean;
  open(options: TransactionOptions): Promise<TransactionSession>;
}

/** A transaction that has a connection from its first statement on. */
export class OutermostTransaction extends Transaction {
  private session: Promise<TransactionSession> | undefined;
  private isolation: IsolationLevel | undefined;

  constructor(
    private readonly home: TransactionHome,
    private readonly options: TransactionOptions,
  ) {
    super();
    this.isolation = options.isolation;
  }

  opened(): Promise<TransactionSession> {
    return (this.session ??= this.open());
  }

  isolate(level: IsolationLevel): void {
    if (!this.options.isImplicit || !isWeaker(this.isolation ?? this.home.isolation, level)) return;
    if (this.session)
      throw new TypeORMError(
        `The isolation level ${level} comes too late, because an earlier statement has already begun the transaction of this operation. ` +
          'With an Idempotency-Key, all of an operation is one transaction.',
      );
    this.isolation = level;
  }

  protected async doCommit(): Promise<void> {
    this.activity.unwatch();
    await (await this.session)?.commit();
  }

  protected async doRollback(): Promise<void> {
    this.activity.unwatch();
    await (await this.openedSession())?.rollback();
  }

  protected async end(): Promise<void> {
    (await this.openedSession())?.release();
  }

  private async openedSession(): Promise<TransactionSession | undefined> {
    return this.session?.catch(() => undefined);
  }

  private async open(): Promise<TransactionSession> {
    const session = await this.home.open({ ...this.options, isolation: this.isolation });
    try {
      const { first } = this.options;
      // Runs `first` in a child without a savepoint in the database. In this transaction itself, it would wait for the permit, which is
      // held by the statement that opens the transaction.
      if (first) await this.home.context.run(new Savepoint(this, session), first);
    } catch (error) {
      await session.rollback().finally(() => session.release());
      throw error;
    }
    if (!this.home.allowsIdling) this.activity.watch(() => this.rollBackIdle());
    return session;
  }

  /** An idle transaction would keep its locks, its connection and, on SQLite, block all writers until a restart. */
  private rollBackIdle(): void {
    const { name = () => 'A transaction' } = this.options;
    this.idleMessage = `${name()} was rolled back: it ran no statement for ${IDLE_MS / 1_000} s.`;
    logger.error(`${this.idleMessage} Commit or release the query runner before you await anything else.`);
    this.rollback().catch(() => undefined);
  }
}
