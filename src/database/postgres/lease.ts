import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import type { GiveBack } from '../scopes/turns.js';
import type { SentCommit } from '../shared-data-version.js';
import { meaningOf } from './postgres-errors.js';
import type { PostgresPool } from './postgres-pool.js';

/** A connection of the pool that is in use. What fails on it for want of the server is thrown as service_unavailable. */
export class Lease {
  /** Whether nobody knows in which state the connection is: then it is closed. */
  isBroken = false;

  constructor(
    private readonly pool: PostgresPool,
    readonly client: PoolClient,
    private readonly place?: GiveBack,
  ) {}

  /** Runs a statement. */
  query(query: QueryConfig): Promise<QueryResult> {
    return this.noted(this.client.query(query));
  }

  /** Runs a statement that begins or ends a transaction: when it fails, nobody knows whether one is open. */
  async control(text: string): Promise<void> {
    try {
      await this.query({ text });
    } catch (error) {
      this.isBroken = true;
      throw error;
    }
  }

  /** Sends a statement that commits. */
  commit(query: QueryConfig): SentCommit<QueryResult> {
    const sent = this.pool.late.send(this.client, query);
    return { ...sent, done: this.noted(sent.done) };
  }

  /** Ends its use; to be called once. One whose commit is late stays in use until that is over. */
  giveBack(): void {
    const free = this.pool.late.free(this.client);
    if (free) void free.then(() => this.release(true));
    else this.release(this.isBroken || this.pool.troubles.outdates(this.client));
  }

  private release(isClosed: boolean): void {
    this.client.release(isClosed);
    this.place?.();
  }

  private async noted<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      const meaning = meaningOf(error);
      this.isBroken ||= meaning !== 'other' && meaning !== 'busy';
      throw this.pool.troubles.note(error, this.client);
    }
  }
}
