import type pg from 'pg';
import type { Client } from 'pg';
import { type PostgresOptions, clientConfig } from './postgres-pool.js';

/** How long a statement may take, in milliseconds. */
const LIMIT_MS = 1_000;

/** What is written here is worth nothing after a crash of the server; and no standby that is away may hold it up. */
const LASTS_NO_CRASH = 'SET synchronous_commit TO off';

/** A connection beside the pool, for what commits wait for while they hold the connections of the pool. A lost one is opened anew. */
export class SideConnection {
  private opening: Promise<Client> | undefined;
  private isClosed = false;

  /** `name` is what pg_stat_activity shows. */
  constructor(
    private readonly driver: typeof pg,
    private readonly options: PostgresOptions,
    private readonly name: string,
  ) {}

  /** Runs a statement and returns its rows. Rejects when the server does not answer in time. */
  async ask<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    if (this.isClosed) throw new Error('The connection is closed.');
    const opening = (this.opening ??= this.open());
    try {
      return (await (await opening).query<Row>(text, values)).rows;
    } catch (error) {
      if (this.opening === opening) this.renew();
      throw error;
    }
  }

  /** Has it opened anew when it is needed: its server may have been replaced by another. */
  renew(): void {
    this.opening?.then((client) => client.end()).catch(() => undefined);
    this.opening = undefined;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const client = await this.opening?.catch(() => undefined);
    await client?.end().catch(() => undefined);
  }

  private async open(): Promise<Client> {
    const client = new this.driver.Client({
      ...clientConfig({ ...this.options, statementTimeoutMs: 0 }),
      statement_timeout: LIMIT_MS,
      query_timeout: LIMIT_MS,
      application_name: this.name,
    });
    client.on('error', () => undefined);
    await client.connect();
    await client.query(LASTS_NO_CRASH);
    return client;
  }
}
