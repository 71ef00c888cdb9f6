import type { Client } from 'pg';
import { DataVersion, NO_VERSIONS, type Versions } from '../data-version.js';
import { ApiError } from '../../core/errors/api-error.js';
import { outsideOfSpans } from '../../core/tracing.js';
import { nextTick } from '../../core/turn.js';
import { Outage } from '../outage.js';
import { errorKindOf, messageOf } from './postgres-errors.js';
import { type PostgresOptions, openSession } from './postgres-options.js';
import type { PostgresAvailability } from './postgres-availability.js';

/** The delay before another session is opened after one could not be used, in milliseconds. */
const RETRY_MS = 5_000;

/** Null on a standby, whose snapshots do not show which transactions are running. */
const READ = {
  name: 'petstore_snapshot',
  text: 'SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_current_snapshot()::text END AS snapshot',
};

/** A session whose snapshots are known to change with commits of this process. */
interface Session {
  readonly client: Client;
  snapshot: string;
}

/**
 * The data version of a PostgreSQL server: its current snapshot. The end of a writing transaction changes the snapshot in every session of
 * the server before the commit is acknowledged, so nothing was committed while the text is equal
 * (docs/decisions/0019-cached-responses-on-postgresql.md). Texts are compared only within one session, because transaction ids may be
 * reused after a crash or failover, which no session survives. The session is never in a transaction, because its snapshots would omit the
 * transaction's own id.
 */
export class SnapshotVersion extends DataVersion {
  /** A snapshot does not cover sequences, foreign tables and server settings. */
  override readonly maxAgeMs = 5_000;
  private session: Session | undefined;
  private opening: Promise<void> | undefined;
  private retryAt = -Infinity;
  /** How often the session was renewed. */
  private renewals = 0;
  private version = 0;
  private running: Promise<Versions> | undefined;
  private next: Promise<Versions> | undefined;
  private isClosed = false;
  private readonly outage = new Outage<unknown>({
    startMessage: (reason) =>
      `No responses are cached, which is slower: the snapshots of PostgreSQL cannot be used (${messageOf(reason)}).`,
    endMessage: () => 'The snapshots of PostgreSQL can be used, and responses are cached.',
    level: 'warn',
  });

  /** `commit` commits something in another session. */
  constructor(
    private readonly options: PostgresOptions,
    private readonly availability: PostgresAvailability,
    private readonly commit: () => Promise<unknown>,
  ) {
    super();
  }

  /** Nothing is known without a query. */
  versions(): Versions {
    return NO_VERSIONS;
  }

  /** All calls until the query starts share it: those of requests that are handled together, and those during the previous query. */
  override fresh(): Promise<Versions> {
    return (this.next ??= outsideOfSpans(() => this.queue()));
  }

  /** Opens a new session, because its server may have been replaced while the old session survives. */
  renew(): void {
    this.renewals += 1;
    this.retryAt = -Infinity;
    this.closeSession(this.session);
  }

  close(): void {
    this.isClosed = true;
    this.closeSession(this.session);
  }

  private async queue(): Promise<Versions> {
    await (this.running ?? nextTick());
    this.next = undefined;
    const running = this.read();
    this.running = running;
    const versions = await running;
    if (this.running === running) this.running = undefined;
    return versions;
  }

  private async read(): Promise<Versions> {
    if (this.isClosed || this.availability.isKnown) return NO_VERSIONS;
    const { session } = this;
    if (!session) {
      this.open();
      return NO_VERSIONS;
    }
    try {
      const snapshot = await snapshotOf(session.client);
      // The session was replaced in the meantime, or its server has started a recovery.
      if (this.session !== session || snapshot === undefined) return NO_VERSIONS;
      if (snapshot !== session.snapshot) this.version += 1;
      session.snapshot = snapshot;
      const { version } = this;
      return { responses: version, rows: version };
    } catch {
      this.onSessionLost(session);
      return NO_VERSIONS;
    }
  }

  /** Runs in the background. */
  private open(): void {
    if (this.opening || performance.now() < this.retryAt) return;
    this.opening = this.openProven()
      .then(
        () => this.outage.end(),
        (error: unknown) => this.onOpenFailed(error),
      )
      .finally(() => (this.opening = undefined));
  }

  private onOpenFailed(error: unknown): void {
    this.retryAt = performance.now() + RETRY_MS;
    // A failure of the pool is already logged.
    if (this.isClosed || error instanceof ApiError) return;
    const meaning = errorKindOf(error);
    if (meaning === 'other' || meaning === 'busy') this.outage.note(() => error);
    else this.availability.note(error);
  }

  /** Opens a session and uses it only after a commit has changed its snapshot, which would not happen on another server or a standby. */
  private async openProven(): Promise<void> {
    const { renewals } = this;
    const client = await openSession(this.options, 'petstore, snapshots');
    try {
      const before = await snapshotOf(client);
      if (before === undefined) throw new Error('the server is in recovery');
      await this.commit();
      const snapshot = await snapshotOf(client);
      if (snapshot === undefined || snapshot === before)
        throw new Error('a commit of the service did not change them');
      if (this.isClosed || this.renewals !== renewals) {
        client.end().catch(ignored);
        return;
      }
      this.version += 1;
      const session = { client, snapshot };
      this.session = session;
      client.once('end', () => this.onSessionLost(session));
    } catch (error) {
      client.end().catch(ignored);
      throw error;
    }
  }

  /** Connections of the same age may lead to a server that was replaced. The next session shows whether the server is available. */
  private onSessionLost(session: Session): void {
    if (this.session !== session) return;
    this.closeSession(session);
    this.availability.outdate();
    if (!this.isClosed) this.open();
  }

  private closeSession(session: Session | undefined): void {
    this.session = undefined;
    session?.client.end().catch(ignored);
  }
}

async function snapshotOf(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ snapshot: string | null }>(READ);
  return rows[0]?.snapshot ?? undefined;
}

const ignored = (): void => undefined;
