import pg from 'pg';
import { type CopyOptions, type CopyReport, copyDatabase } from '../../src/database/commands/copy.js';
import { openDataSource } from '../../src/database/data-source.js';
import { migrate } from '../../src/database/schema.js';
import { type MadeDatabase, makeDatabase } from '../kit/test-database.js';

/** An empty PostgreSQL database into which SQLite files are copied. */
export class CopyTarget {
  private constructor(
    private readonly database: MadeDatabase,
    /** A session in the database, as from psql. */
    readonly client: pg.Client,
  ) {}

  /** Creates a database. Remove it when done. */
  static async make(): Promise<CopyTarget> {
    const database = await makeDatabase('postgres');
    return new CopyTarget(database, await connected(database.url, 'psql'));
  }

  /** The database URL, for DATABASE_URL. */
  get url(): string {
    return this.database.url;
  }

  /** Another session in the database, with this application name. */
  connected(name: string): Promise<pg.Client> {
    return connected(this.database.url, name);
  }

  /** Copies a file into the database. */
  copy(file: string, more: Partial<CopyOptions> = {}): Promise<CopyReport> {
    return copyDatabase({
      file,
      target: { databaseUrl: this.database.url },
      excludedTables: [],
      signal: new AbortController().signal,
      onProgress: () => undefined,
      ...more,
    });
  }

  /** Creates the tables of this build. */
  async migrate(): Promise<void> {
    const database = await openDataSource({ databaseUrl: this.url });
    await migrate(database);
    await database.destroy();
  }

  /** The rows that a query returns, each as an array of values. */
  async rows(sql: string): Promise<unknown[][]> {
    return (await this.client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows;
  }

  /** Closes the session and drops the database. */
  async remove(): Promise<void> {
    await this.client.end();
    await this.database.remove();
  }
}

async function connected(url: string, name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: name });
  await client.connect();
  return client;
}
