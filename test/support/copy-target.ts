import pg from 'pg';
import { type CopyOptions, type CopyReport, copyDatabase } from '../../src/database/commands/copy.js';
import { openDataSource } from '../../src/database/data-source.js';
import { migrate } from '../../src/database/schema.js';
import { type MadeDatabase, makeDatabase } from '../kit/test-database.js';

/** An empty PostgreSQL database that files are copied into. */
export class CopyTarget {
  private constructor(
    private readonly database: MadeDatabase,
    /** A session in it, as psql has one. */
    readonly client: pg.Client,
  ) {}

  /** Makes one. Remove it when done. */
  static async make(): Promise<CopyTarget> {
    const database = await makeDatabase('postgres');
    return new CopyTarget(database, await connected(database.url, 'psql'));
  }

  /** Its address, for DATABASE_URL. */
  get url(): string {
    return this.database.url;
  }

  /** Another session in it, by the name that it gives itself. */
  connected(name: string): Promise<pg.Client> {
    return connected(this.database.url, name);
  }

  /** Copies a file into it. */
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

  /** Makes the tables of this build. */
  async migrate(): Promise<void> {
    const database = await openDataSource({ databaseUrl: this.url });
    await migrate(database);
    await database.destroy();
  }

  /** The rows that a query answers, each as a list of its values. */
  async rows(sql: string): Promise<unknown[][]> {
    return (await this.client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows;
  }

  /** Ends its session and drops it. */
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
