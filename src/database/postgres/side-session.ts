import type pg from 'pg';
import type { Client } from 'pg';
import { type PostgresOptions, clientConfig } from './postgres-pool.js';

/** How long a statement of a side session may take, in milliseconds. */
const LIMIT_MS = 1_000;

/** A session beside the pool, for locks that a process holds as long as it lives. A lost one is opened anew, without its locks. */
export class SideSession {
  private opening: Promise<Client> | undefined;
  private isClosed = false;

  /** `name` is what pg_stat_activity shows. */
  constructor(
    private readonly driver: typeof pg,
    private readonly options: PostgresOptions,
    private readonly name: string,
    private readonly onOpen: (run: (sql: string) => Promise<boolean>) => Promise<void>,
  ) {}

  /** Runs a statement that answers one boolean. Rejects when the server does not answer in time. */
  async ask(sql: string): Promise<boolean> {
    if (this.isClosed) throw new Error('The session is closed.');
    this.opening ??= this.open();
    const opening = this.opening;
    try {
      const answer = await askOn(await opening, sql);
      if (this.opening === opening) return answer;
      throw new Error('The session was opened anew.');
    } catch (error) {
      if (this.opening === opening) this.renew();
      throw error;
    }
  }

  /** Has it opened anew when it is needed: its server may have been replaced by another, which knows none of its locks. */
  renew(): void {
    this.opening?.then((client) => client.end()).catch(() => undefined);
    this.opening = undefined;
  }

  /** Ends it, and with it the locks. */
  async close(): Promise<void> {
    this.isClosed = true;
    const client = await this.opening?.catch(() => undefined);
    await client?.end().catch(() => undefined);
  }

  private async open(): Promise<Client> {
    const client = new this.driver.Client({
      ...clientConfig({ ...this.options, statementTimeoutMs: 0 }),
      query_timeout: LIMIT_MS,
      application_name: this.name,
    });
    client.on('error', () => undefined);
    await client.connect();
    await this.onOpen((sql) => askOn(client, sql));
    return client;
  }
}

async function askOn(client: Client, sql: string): Promise<boolean> {
  const { rows } = await client.query<{ answer: boolean }>(sql);
  return rows[0]?.answer === true;
}
