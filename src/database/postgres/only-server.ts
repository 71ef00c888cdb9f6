import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Client } from 'pg';
import { OnlyServer, type Serving } from '../database.js';
import { type PostgresOptions, clientConfig } from './postgres-pool.js';

/** How long a start waits for the process before it to end, in milliseconds. */
const PATIENCE_MS = 3_000;
/** How often it looks, in milliseconds. */
const PERIOD_MS = 250;
/** How long a statement of the session may take, in milliseconds. */
const LIMIT_MS = 2_000;

/** The advisory lock of the one process that serves, as its functions take it. */
const ONLY_SERVER_LOCK = `hashtextextended('petstore only server', 0)`;

const CLAIMS = {
  alone: `SELECT pg_try_advisory_lock(${ONLY_SERVER_LOCK}) AS claimed`,
  'among others': `SELECT pg_try_advisory_lock_shared(${ONLY_SERVER_LOCK}) AS claimed`,
};

/** The server notices within 25 s that the machine of a session is gone, instead of two hours: until then its locks are held. */
const KEEP_ALIVE =
  `SELECT set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false), ` +
  `set_config('tcp_keepalives_count', '3', false)`;

/** The first half of the advisory locks that stand for names of counts; the second is made of the name. */
const COUNTS = `hashtext('petstore counts in')`;
const COUNT_LOCKS = {
  hold: `SELECT pg_advisory_lock_shared(${COUNTS}, hashtext($1))`,
  free: `SELECT pg_advisory_unlock_shared(${COUNTS}, hashtext($1))`,
  isHeldElsewhere:
    `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND classid = ${COUNTS}::oid ` +
    `AND objid <> hashtext($1)::oid AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS answer`,
};

/**
 * Lets one process alone serve a PostgreSQL database, or several that all know of each other: a lock of a session of its own, which
 * the server frees when the process dies. After the connection was lost it is claimed again.
 */
export class OnlyPostgresServer extends OnlyServer {
  private client: Client | undefined;
  private lost: () => void = () => undefined;
  private held: string | undefined;
  private isEnded = false;

  /** `ask` runs a statement on any connection. */
  constructor(
    private readonly driver: typeof pg,
    private readonly options: PostgresOptions,
    private readonly ask: (sql: string, name: string) => Promise<{ answer: boolean }[]>,
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
      query_timeout: LIMIT_MS,
      application_name: how === 'alone' ? 'petstore, the only server' : 'petstore, a server among others',
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query(KEEP_ALIVE);
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
    this.held = undefined;
    this.lost = onLost;
    client.once('end', () => this.lose(client));
    return true;
  }

  async countsIn(name: string | undefined): Promise<void> {
    const { client, held } = this;
    if (!client || name === held) return;
    try {
      if (name !== undefined) await client.query(COUNT_LOCKS.hold, [name]);
      if (held !== undefined) await client.query(COUNT_LOCKS.free, [held]);
    } catch (error) {
      // Nobody knows which locks it has.
      this.giveUp(client);
      throw error;
    }
    if (this.client === client) this.held = name;
  }

  async isCountedElsewhere(name: string): Promise<boolean> {
    const [row] = await this.ask(COUNT_LOCKS.isHeldElsewhere, name);
    return row?.answer === true;
  }

  /** Gives up its session, which may be one of a server that was replaced by another; the lock is claimed anew. */
  renew(): void {
    if (this.client) this.giveUp(this.client);
  }

  async release(): Promise<void> {
    this.isEnded = true;
    await this.client?.end().catch(() => undefined);
  }

  private giveUp(client: Client): void {
    client.end().catch(() => undefined);
    this.lose(client);
  }

  private lose(client: Client): void {
    if (this.client !== client) return;
    this.client = undefined;
    if (!this.isEnded) this.lost();
  }
}
