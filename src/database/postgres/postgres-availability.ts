import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { ApiError } from '../../core/errors/api-error.js';
import { WriteAvailability } from '../database.js';
import { Outage } from '../outage.js';
import { unavailable } from '../unavailable.js';
import { type ErrorKind, isDenied, isFull, errorKindOf, messageOf } from './postgres-errors.js';
import { type PostgresOptions, openSession } from './postgres-options.js';

/** Interval between checks of an unavailable or read-only server, in milliseconds. */
const PERIOD_MS = 250;
/** After this time without a refused or late request, in milliseconds, the server counts as recovered from overload or late commits. */
const QUIET_MS = 5_000;
/** How long the service stays ready after the server became unavailable, in milliseconds. A restart of the server takes less time. */
export const READY_GRACE_MS = 3_000;

/** A write that needs a disk page and is not committed, because a commit might hang. */
const PROBE = 'BEGIN; CREATE TEMPORARY TABLE petstore_try AS SELECT 1 AS written; ROLLBACK';

/** The messages for clients. */
const REASONS: Readonly<Record<Exclude<ErrorKind, 'other'>, string>> = {
  unreachable: 'the database does not respond',
  lost: 'the connection to the database was lost',
  late: 'the database did not respond in time',
  'read-only': 'the database cannot be written to',
  busy: 'the database is busy',
};

interface WatchedPool {
  /** Connections whose commit is late. */
  readonly late: { readonly size: number };
  /** The error for new writes while too many commits are late. */
  readonly commitError: ApiError | undefined;
  discardOutdated(): void;
}

/**
 * Whether PostgreSQL responds, and whether it accepts writes. Changes are logged once, not for each refused request. While the server is
 * unavailable, requests are refused immediately, and separate connections check it until it responds.
 */
export class PostgresAvailability extends WriteAvailability {
  private readonly logger = new Logger('Database');
  private readonly outages: Readonly<Record<Exclude<ErrorKind, 'other' | 'lost'>, Outage<unknown>>>;
  /** Why a connection was lost, until it is known whether the server is available. */
  private lost: string | undefined;
  /** Time of the last recovery, as a value of `performance.now()`. */
  private recoveredAt = -Infinity;
  private isProbing = false;
  isEnded = false;
  /** Called after a recovery. */
  onRecovered = (): void => undefined;

  constructor(
    private readonly options: PostgresOptions,
    private readonly pool: WatchedPool,
  ) {
    super();
    const { host, port, database } = options.address;
    const name = `PostgreSQL (${host}:${port}, database ${database})`;
    this.outages = {
      unreachable: new Outage({
        startMessage: (error) =>
          `${name} does not respond: ${messageOf(error)}. Requests that need it are refused with 503. The service recovers automatically.`,
        endMessage: (seconds) => `${name} responds again, after ${seconds} s`,
      }),
      'read-only': new Outage({
        startMessage: (error) =>
          `${name} cannot be written to: ${messageOf(error)}. Writes are refused with 503, and reads continue. The service recovers automatically.`,
        endMessage: (seconds) => `${name} accepts writes again, after ${seconds} s`,
      }),
      late: new Outage({
        startMessage: () =>
          `${name} does not confirm commits; one took too long. Its write was refused with 503, but may still be carried out; ` +
          'reads continue.',
        endMessage: (seconds, times) =>
          `${name} confirms commits again, after ${seconds} s: ${times} commits were late`,
        isOngoing: () => this.pool.late.size > 0,
        quietMs: QUIET_MS,
      }),
      busy: new Outage({
        startMessage: (error) =>
          `${name} does not keep up: ${messageOf(error)}. Requests that would wait longer are refused with 503. Reads from the cache continue.`,
        endMessage: (_, times) => `${name} keeps up again: ${times} statements were refused`,
        level: 'warn',
        quietMs: QUIET_MS,
      }),
    };
  }

  get reason(): string | undefined {
    const readOnly = this.outages['read-only'].reason;
    if (readOnly)
      return `the database cannot be written to: ${isFull(readOnly) ? 'its disk is full' : 'it is read-only'}`;
    return this.pool.commitError && 'the database cannot be written to: it does not confirm commits';
  }

  /** Why no statement can run; undefined while they can. */
  get error(): ApiError | undefined {
    const reason = this.outages.unreachable.reason;
    return reason ? unavailable(REASONS.unreachable, reason, true) : undefined;
  }

  /** How long the server has been unavailable, in milliseconds; 0 while it is available. */
  get unreachableMs(): number {
    return this.outages.unreachable.ms;
  }

  get isKnown(): boolean {
    return this.isProbing;
  }

  /** Called when an idle session was lost, because connections of the same age may lead to a server that was replaced. */
  outdate(): void {
    this.recoveredAt = performance.now();
    this.pool.discardOutdated();
  }

  /** Whether a connection is older than the last recovery and may lead to a server that was replaced. */
  outdates(client: object): boolean {
    return ((client as { readonly startedAt?: number }).startedAt ?? Infinity) < this.recoveredAt;
  }

  /** Records the error of a statement on this connection, or of connecting; returns the error to throw. */
  note(error: unknown, client?: object): unknown {
    const kind = errorKindOf(error);
    if (kind === 'other') return error;
    // Only one session may have ended; the next check shows whether the server is unavailable.
    if (kind === 'lost') this.lost ??= messageOf(error);
    // An older connection says nothing about the current server.
    else if (!(client && this.outdates(client))) this.startOutage(kind, error);
    if (kind !== 'busy') void this.watch();
    return unavailable(REASONS[kind], error, true);
  }

  end(): void {
    this.isEnded = true;
  }

  private startOutage(kind: keyof typeof this.outages, error: unknown): void {
    if (!this.isEnded) this.outages[kind].note(() => error);
  }

  /** Checks the server until it has recovered. */
  private async watch(): Promise<void> {
    if (this.isProbing) return;
    this.isProbing = true;
    while (!this.isEnded) {
      try {
        this.onResponse(await this.acceptsWrites());
        // While all connections hang in commits, no statement could detect that the server is unavailable.
        if (!this.outages['read-only'].reason && !this.pool.commitError) break;
      } catch (error) {
        // If this process has no descriptor left for the check, the state is unknown; open connections may work.
        if (errorKindOf(error) !== 'busy') this.startOutage('unreachable', error);
      }
      await pause(PERIOD_MS, undefined, { ref: false });
    }
    this.isProbing = false;
  }

  /** Connects again and tries to write, because the pool's connections may be dead without the pool knowing. */
  private async acceptsWrites(): Promise<boolean> {
    const session = await openSession(this.options);
    try {
      await session.query(PROBE);
      return true;
    } catch (error) {
      if (errorKindOf(error) === 'read-only') return false;
      // A user without permission for temporary tables finds out with the next write.
      if (isDenied(error)) return true;
      throw error;
    } finally {
      session.end().catch(() => undefined);
    }
  }

  private onResponse(acceptsWrites: boolean): void {
    const { unreachable, 'read-only': readOnly } = this.outages;
    const hasRecovered = unreachable.reason ?? this.lost ?? (acceptsWrites && readOnly.reason);
    if (this.lost !== undefined && !unreachable.reason)
      this.logger.warn(
        `PostgreSQL ended a connection: ${this.lost}. Its reads were retried, and its writes were refused with 503`,
      );
    this.lost = undefined;
    unreachable.end();
    if (acceptsWrites) readOnly.end();
    if (!hasRecovered) return;
    this.outdate();
    this.onRecovered();
  }
}
