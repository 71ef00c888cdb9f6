import type { Client } from 'pg';
import { isServerError, openingFailure } from './postgres-errors.js';
import { type PostgresOptions, openSession } from './postgres-options.js';

/** Whether a process must be the only one that serves, or may be one of several that share quotas. */
export type Serving = 'alone' | 'among others';

/** The advisory lock of the serving process, as an argument of the lock functions. */
const LOCK = `hashtextextended('petstore only server', 0)`;
const CLAIMS: Readonly<Record<Serving, string>> = {
  alone: `SELECT pg_try_advisory_lock(${LOCK}) AS claimed`,
  'among others': `SELECT pg_try_advisory_lock_shared(${LOCK}) AS claimed`,
};

/** Whether and how a process holds that lock. */
const SERVED =
  `SELECT mode = 'ExclusiveLock' AS "isAlone" FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted ` +
  `AND (classid::bigint << 32 | objid::bigint) = ${LOCK} AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1`;

/** The first half of the advisory locks for names of counts; the second is a hash of the name. */
const COUNTS = `hashtext('petstore counts in')`;
const HOLD = `SELECT pg_advisory_lock_shared(${COUNTS}, hashtext($1))`;
const FREE = `SELECT pg_advisory_unlock_shared(${COUNTS}, hashtext($1))`;
const FREE_ALL = 'SELECT pg_advisory_unlock_all()';
const IS_HELD_ELSEWHERE =
  `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND classid = ${COUNTS}::oid ` +
  `AND objid <> hashtext($1)::oid AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1`;

/**
 * A session outside of the pool for the locks of a serving process, which the server releases when the process dies. If it does not
 * respond, it is closed and reopened when needed.
 */
export class LockSession {
  private session: Promise<Client> | undefined;
  /** The session that holds the serving process's lock. */
  private serving: Promise<Client> | undefined;
  private counted: { readonly session: Promise<Client>; readonly name: string | undefined } | undefined;
  private isClosed = false;

  constructor(private readonly options: PostgresOptions) {}

  /** Whether this process has claimed the database, as far as it knows. */
  get serves(): boolean {
    return this.serving !== undefined && this.serving === this.session;
  }

  /** Claims the database, unless already done; returns false if another process serves it and this one may not serve at the same time. */
  async claim(how: Serving): Promise<boolean> {
    if (this.serves) return true;
    const session = this.getSession();
    const [row] = await this.run<{ claimed: boolean }>(session, CLAIMS[how]);
    if (row?.claimed === true) this.serving = session;
    return this.serves;
  }

  /** How the database is currently served, by any process; undefined if it is not. */
  async served(): Promise<Serving | undefined> {
    const [row] = await this.run<{ isAlone: boolean }>(this.getSession(), SERVED);
    return row && (row.isAlone ? 'alone' : 'among others');
  }

  /** Publishes the name of the counts that this process shares; undefined if it shares none. */
  async countsIn(name: string | undefined): Promise<void> {
    const session = this.getSession();
    const held = this.counted?.session === session ? this.counted.name : undefined;
    if (name === held) return;
    if (name !== undefined) await this.run(session, HOLD, [name]);
    if (held !== undefined) await this.run(session, FREE, [held]);
    this.counted = { session, name };
  }

  /** Whether a serving process counts under another name. */
  async isCountedElsewhere(name: string): Promise<boolean> {
    return (await this.run(this.getSession(), IS_HELD_ELSEWHERE, [name])).length > 0;
  }

  async release(): Promise<void> {
    if (this.serves) await this.run(this.getSession(), FREE_ALL).catch(ignored);
    this.serving = this.counted = undefined;
  }

  /** Closes it, because its server may have been replaced. */
  renew(): void {
    this.session?.then((client) => client.end()).catch(ignored);
    this.session = undefined;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const client = await this.session?.catch(ignored);
    await client?.end().catch(ignored);
  }

  private async run<Row extends object>(
    session: Promise<Client>,
    text: string,
    values: unknown[] = [],
  ): Promise<Row[]> {
    try {
      return (await (await session).query<Row>(text, values)).rows;
    } catch (error) {
      if (this.session === session && !isServerError(error)) this.renew();
      throw error;
    }
  }

  private getSession(): Promise<Client> {
    if (this.session) return this.session;
    const session = this.open();
    const onEnd = () => {
      if (this.session === session) this.session = undefined;
    };
    session.then((client) => client.once('end', onEnd), onEnd);
    return (this.session = session);
  }

  private async open(): Promise<Client> {
    if (this.isClosed) throw new Error('The connection is closed.');
    try {
      return await openSession(this.options, 'petstore, instance');
    } catch (error) {
      throw new Error(openingFailure(error), { cause: error });
    }
  }
}

const ignored = (): void => undefined;
