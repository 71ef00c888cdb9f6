import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { ApiError } from '../../core/errors/api-error.js';
import { WriteTrouble } from '../database.js';
import { Outage } from '../outage.js';
import { unavailable } from '../unavailable.js';
import { type Meaning, isFull, meaningOf, messageOf } from './postgres-errors.js';
import type { TimedConnection } from './postgres-options.js';

/** How often a server that is unavailable or read-only is tried, in milliseconds. */
const PERIOD_MS = 250;
/** How many tries in a row may lose their session: one may have been ended, and the server be there. */
const MOST_LOST = 3;
/** How long nothing may have been refused for a server to keep up again, in milliseconds. */
const KEEPS_UP_MS = 5_000;
/** How long the service stays ready after the server went away, in milliseconds: a restart of it takes less. */
export const READY_GRACE_MS = 3_000;

/** The result of a connection attempt. */
export type Found = 'writes' | 'reads';

/** The messages for a client. */
const REASONS: Readonly<Record<Exclude<Meaning, 'other'>, string>> = {
  away: 'the database does not respond',
  lost: 'the connection to the database was lost',
  late: 'the database did not respond in time',
  'read-only': 'the database cannot be written to',
  busy: 'the database is busy',
};

/**
 * Whether PostgreSQL responds, and whether it accepts writes. The log has one line per change, not one per refused request. While
 * the server is unavailable, requests are refused at once, and separate connections try it until it responds again.
 */
export class PostgresTroubles extends WriteTrouble {
  private readonly logger = new Logger('Database');
  private readonly away: Outage<unknown>;
  private readonly readOnly: Outage<unknown>;
  /** While statements are refused because others are in the way. */
  private readonly crowd: Outage<unknown>;
  /** Why a connection was lost, until it is known whether the server is there. */
  private lost: string | undefined;
  /** When the last trouble was over, by `performance.now()`. */
  private overAt = -Infinity;
  private isTrying = false;
  private isEnded = false;

  /**
   * `name` is how the log calls the database; `attempt` connects again and says what the server can do, whose disk was full;
   * `onOver` is called when it has recovered; `isStuck` returns whether so many commits hang that no more are begun.
   */
  constructor(
    private readonly name: string,
    private readonly attempt: (wasFull: boolean) => Promise<Found>,
    private readonly onOver: () => void,
    private readonly isStuck: () => boolean,
  ) {
    super();
    this.away = new Outage({
      begun: (error) =>
        `${name} does not respond: ${messageOf(error)}. Requests that need it are refused with 503; the service recovers by itself.`,
      over: (seconds) => `${name} responds again, after ${seconds} s`,
    });
    this.readOnly = new Outage({
      begun: (error) =>
        `${name} cannot be written: ${messageOf(error)}. Writes are refused with 503, reads continue; the service recovers by itself.`,
      over: (seconds) => `${name} accepts writes again, after ${seconds} s`,
    });
    this.crowd = new Outage({
      begun: (error) =>
        `${name} does not keep up: ${messageOf(error)}. Requests that would wait longer are refused with 503; reads from the cache continue.`,
      over: (_, times) => `${name} keeps up again: ${times} statements were refused`,
      quietMs: KEEPS_UP_MS,
      level: 'warn',
    });
  }

  get reason(): string | undefined {
    const readOnly = this.readOnly.reason;
    if (readOnly)
      return `the database cannot be written to: ${isFull(readOnly) ? 'its disk is full' : 'it is read-only'}`;
    return this.isStuck() ? 'the database cannot be written to: it does not confirm commits' : undefined;
  }

  /** Why no statement can run at the moment; undefined while they can. */
  get fault(): ApiError | undefined {
    const away = this.away.reason;
    return away ? unavailable(REASONS.away, away, true) : undefined;
  }

  /** For how long the server has been unavailable, in milliseconds; 0 while it is available. */
  get awayMs(): number {
    return this.away.ms;
  }

  /** Whether a trouble is known that is not over. */
  get isKnown(): boolean {
    return this.isTrying;
  }

  /** A session was lost while nothing used it: those that are as old may lead to a server that another has replaced. */
  outdate(): void {
    this.overAt = performance.now();
  }

  /** Whether a connection was begun before the last trouble was over: it may lead to a server that another has replaced. */
  outdates(client: object): boolean {
    return ((client as Partial<TimedConnection>).begunAt ?? Infinity) < this.overAt;
  }

  /** Notes the error of a statement, on this connection, or of connecting; returns the error to throw. */
  note(error: unknown, client?: object): unknown {
    const meaning = meaningOf(error);
    if (meaning === 'other') return error;
    if (meaning === 'busy') {
      if (!this.isEnded) this.crowd.note(() => error);
    } else {
      // One session may have been ended; the next try shows whether it is the server.
      if (meaning === 'lost') this.lost ??= messageOf(error);
      // An older connection says nothing about the server as it is now.
      else if (meaning !== 'late' && !(client && this.outdates(client))) this.went(meaning, error);
      void this.watch();
    }
    return unavailable(REASONS[meaning], error, true);
  }

  /** Stops trying. */
  end(): void {
    this.isEnded = true;
  }

  private went(where: 'away' | 'read-only', error: unknown): void {
    if (!this.isEnded) (where === 'away' ? this.away : this.readOnly).note(() => error);
  }

  /** Tries the server until it has recovered. */
  private async watch(): Promise<void> {
    if (this.isTrying) return;
    this.isTrying = true;
    for (let lost = 0; !this.isEnded;) {
      try {
        this.found(await this.attempt(isFull(this.readOnly.reason)));
        // While all connections hang in commits, no statement could find out that the server is unavailable.
        if (!this.readOnly.reason && !this.isStuck()) break;
      } catch (error) {
        const meaning = meaningOf(error);
        lost = meaning === 'lost' ? lost + 1 : 0;
        // Without a descriptor for the try it is unknown; open connections may work.
        if (meaning !== 'busy' && (lost === 0 || lost > MOST_LOST)) this.went('away', error);
      }
      await pause(PERIOD_MS, undefined, { ref: false });
    }
    this.isTrying = false;
  }

  private found(found: Found): void {
    const isOver = this.away.reason ?? this.lost ?? (found === 'writes' && this.readOnly.reason);
    if (this.lost !== undefined && !this.away.reason)
      this.logger.warn(
        `${this.name} ended a connection: ${this.lost}. Reads were retried, writes on it were refused with 503`,
      );
    this.lost = undefined;
    this.away.end();
    if (found === 'writes') this.readOnly.end();
    if (!isOver) return;
    this.outdate();
    this.onOver();
  }
}
