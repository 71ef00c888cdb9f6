import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { SqliteFile } from '../sqlite-file.js';

/** How a statement is executed: by itself, in a transaction that commits late, or in a transaction that is rolled back. */
export type HowChanged = 'at once' | 'late' | 'undone';

/** A session in the database, as from psql, while the service runs. */
export interface Session {
  /** Executes a statement. Returns whether it was acknowledged. */
  change(statement: string, how: HowChanged, lateMs: number): Promise<boolean>;
  /** Closes the session. */
  end(): Promise<void>;
}

/** A session in which a PostgreSQL client changes rows. */
export class PostgresSession implements Session {
  private client: pg.Client | undefined;

  constructor(private readonly url: string) {}

  async change(statement: string, how: HowChanged, lateMs: number): Promise<boolean> {
    try {
      // The whole transaction must use one connection: a COMMIT on another one would only produce a warning.
      const client = await this.connected();
      if (how === 'at once') {
        await client.query(statement);
        return true;
      }
      await client.query('BEGIN; SAVEPOINT inner_one');
      await client.query(statement);
      await client.query('RELEASE SAVEPOINT inner_one');
      await pause(lateMs);
      const { command } = await client.query(how === 'late' ? 'COMMIT' : 'ROLLBACK');
      return command === 'COMMIT' || how === 'undone';
    } catch {
      await this.end();
      return false;
    }
  }

  async end(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }

  private async connected(): Promise<pg.Client> {
    if (this.client) return this.client;
    const client = new pg.Client({ connectionString: this.url, connectionTimeoutMillis: 5_000 });
    client.on('error', () => undefined);
    await client.connect();
    this.client = client;
    return client;
  }
}

/** One connection for all clients: each session that waits for the write lock would occupy a thread of this process. */
export class SqliteSession implements Session {
  private file: SqliteFile | undefined;
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly path: string) {}

  change(statement: string, how: HowChanged, lateMs: number): Promise<boolean> {
    const turn = this.last.then(() => this.transaction(statement, how, lateMs));
    this.last = turn;
    return turn;
  }

  async end(): Promise<void> {
    const { file } = this;
    this.file = undefined;
    await file?.close().catch(() => undefined);
  }

  private async transaction(statement: string, how: HowChanged, lateMs: number): Promise<boolean> {
    try {
      this.file ??= await SqliteFile.open(this.path);
      await this.file.run('PRAGMA busy_timeout = 8000; BEGIN IMMEDIATE');
      await this.file.run(statement);
      if (how !== 'at once') await pause(lateMs);
      await this.file.run(how === 'undone' ? 'ROLLBACK' : 'COMMIT');
      return true;
    } catch {
      await this.end();
      return false;
    }
  }
}
