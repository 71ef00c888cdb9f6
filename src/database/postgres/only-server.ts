import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Client } from 'pg';
import { OnlyServer, type Serving } from '../database.js';
import { type PostgresOptions, clientConfig } from './postgres-pool.js';

/** How long a start waits for the process before it to end, in milliseconds. */
const PATIENCE_MS = 3_000;
/** How often it looks, in milliseconds. */
const PERIOD_MS = 250;

/** The advisory lock of the one process that serves, as its functions take it. */
export const ONLY_SERVER_LOCK = `hashtextextended('petstore only server', 0)`;

const CLAIMS = {
  alone: `SELECT pg_try_advisory_lock(${ONLY_SERVER_LOCK}) AS claimed`,
  'among others': `SELECT pg_try_advisory_lock_shared(${ONLY_SERVER_LOCK}) AS claimed`,
};

/**
 * Lets one process alone serve a PostgreSQL database, or several that all know of each other: a lock of a session of its own, which
 * the server frees when the process dies. After the connection was lost it is claimed again.
 */
export class OnlyPostgresServer extends OnlyServer {
  private client: Client | undefined;
  private isEnded = false;

  constructor(
    private readonly driver: typeof pg,
    private readonly options: PostgresOptions,
  ) {
    super();
  }

  async claim(how: Serving, onLost: () => void): Promise<boolean> {
    const until = performance.now() + PATIENCE_MS;
    do {
      if (await this.tryToClaim(how, onLost)) return true;
      await pause(PERIOD_MS);
    } while (performance.now() < until);
    return false;
  }

  async tryToClaim(how: Serving, onLost: () => void): Promise<boolean> {
    // The session may idle for as long as the process lives.
    const client = new this.driver.Client({
      ...clientConfig({ ...this.options, statementTimeoutMs: 0 }),
      application_name: how === 'alone' ? 'petstore, the only server' : 'petstore, a server among others',
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ claimed: boolean }>(CLAIMS[how]);
      if (rows[0]?.claimed !== true || this.isEnded) {
        await client.end();
        return false;
      }
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    this.client = client;
    client.once('end', () => {
      if (!this.isEnded) onLost();
    });
    return true;
  }

  async release(): Promise<void> {
    this.isEnded = true;
    await this.client?.end().catch(() => undefined);
  }
}
