import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { ApiError } from '../../core/errors/api-error.js';
import { WriteTrouble } from '../database.js';
import { Outage } from '../outage.js';
import { unavailable } from '../unavailable.js';
import { lateCommitOf } from './late-commits.js';
import { busy, isFull, meaningOf, messageOf } from './postgres-errors.js';

/** How often a server that is away or read-only is tried, in milliseconds. */
const PERIOD_MS = 250;
/** How long after its session was ended a try is repeated, in milliseconds. */
const RETRY_MS = 100;
/** How long nothing may have been refused for a server to keep up again, in milliseconds. */
const KEEPS_UP_MS = 5_000;
/** How long the service stays ready after the server went away, in milliseconds: a restart of it takes less. */
export const READY_GRACE_MS = 3_000;

/** What a try of the server has found. */
export type Found = 'writes' | 'reads';

/** A connection that knows when it was begun, by `performance.now()`. */
export interface TimedConnection {
  readonly begunAt: number;
}

/** What the server said. */
interface Said {
  readonly text: string;
  readonly isFull: boolean;
}

/**
 * Whether PostgreSQL answers, and whether it writes. The log has one line when that changes, not one for each refused request. While
 * the server is away requests are refused at once, and a connection of its own tries it until it answers again.
 */
export class PostgresTroubles extends WriteTrouble {
  private readonly logger = new Logger('Database');
  private readonly away: Outage<Said>;
  private readonly readOnly: Outage<Said>;
  /** While statements are refused because others are in the way. */
  private readonly crowd: Outage<string>;
  /** Why a connection was lost, until it is known whether the server is there. */
  private lost: string | undefined;
  /** When the last trouble was over, by `performance.now()`. */
  private overAt = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  private isTrying = false;
  private isEnded = false;

  /**
   * `name` is how the log calls the database; `attempt` connects anew and tells what the server can do, whose disk was full;
   * `onOver` is called when it is well again; `isStuck` tells whether so many commits hang that no more are begun.
   */
  constructor(
    private readonly name: string,
    private readonly attempt: (wasFull: boolean) => Promise<Found>,
    private readonly onOver: () => void,
    private readonly isStuck: () => boolean,
  ) {
    super();
    this.away = new Outage({
      begun: ({ text }) =>
        `${name} does not answer: ${text}. Requests that need it are refused with 503; the service recovers by itself.`,
      over: (seconds) => `${name} answers again, after ${seconds} s`,
    });
    this.readOnly = new Outage({
      begun: ({ text }) =>
        `${name} cannot be written: ${text}. Writes are refused with 503, reads continue; the service recovers by itself.`,
      over: (seconds) => `${name} is written again, after ${seconds} s`,
    });
    this.crowd = new Outage({
      begun: (text) =>
        `${name} does not keep up: ${text}. What would wait longer is refused with 503; reads from the cache continue.`,
      over: (_, times) => `${name} keeps up again: ${times} statements were refused`,
      quietMs: KEEPS_UP_MS,
      level: 'warn',
    });
  }

  get reason(): string | undefined {
    const readOnly = this.readOnly.reason;
    if (readOnly)
      return `the database cannot be written to: ${readOnly.isFull ? 'its disk is full' : 'it is read-only'}`;
    return this.isStuck() ? 'the database cannot be written to: it does not answer commits' : undefined;
  }

  /** Why nothing can be asked at the moment; undefined while all is well. */
  get fault(): ApiError | undefined {
    const away = this.away.reason;
    return away && unavailable('the database does not answer', new Error(away.text), true);
  }

  /** For how long the server has been away, in milliseconds; 0 while it is there. */
  get awayMs(): number {
    return this.away.ms;
  }

  /** Whether a connection was begun before the last trouble was over: it may lead to a server that another has replaced. */
  outdates(client: object): boolean {
    return ((client as Partial<TimedConnection>).begunAt ?? Infinity) < this.overAt;
  }

  /** Notes the error of a statement, on this connection, or of connecting; answers what the caller is to throw. */
  note(error: unknown, client?: object): unknown {
    const meaning = meaningOf(error);
    if (meaning === 'other') return error;
    if (meaning === 'busy') {
      this.refusedInCrowd(error);
      return busy(error);
    }
    if (meaning === 'lost') {
      // One session may have been ended; the next try tells whether it is the server.
      this.lost ??= messageOf(error);
      this.watch();
      return unavailable('the connection to the database was lost', error, true);
    }
    if (meaning === 'late') {
      // A commit may take long although the server reads; the next try tells whether it is the server.
      if (!lateCommitOf(error)) this.refusedInCrowd(error);
      this.watch();
      return unavailable('the database did not answer in time', error, true);
    }
    const isAway = meaning === 'away';
    // Of the server as it is now an older connection tells nothing.
    if (client && this.outdates(client)) this.watch();
    else this.went(isAway ? 'away' : 'readOnly', error);
    return unavailable(
      isAway ? 'the database does not answer' : 'the database cannot be written to',
      error,
      true,
    );
  }

  /** Stops to try. */
  end(): void {
    this.isEnded = true;
    clearTimeout(this.timer);
  }

  private refusedInCrowd(error: unknown): void {
    if (!this.isEnded) this.crowd.note(() => messageOf(error));
  }

  private went(where: 'away' | 'readOnly', error: unknown): void {
    if (where === 'away') this.lost = undefined;
    if (this.isEnded) return;
    this[where].note(() => ({ text: messageOf(error), isFull: isFull(error) }));
    this.watch();
  }

  private watch(afterMs = this.away.reason || this.readOnly.reason ? PERIOD_MS : 0): void {
    if (this.timer || this.isTrying || this.isEnded) return;
    this.timer = setTimeout(() => void this.try(), afterMs);
    // The timer alone must not keep the process running.
    this.timer.unref();
  }

  private async try(): Promise<void> {
    this.timer = undefined;
    this.isTrying = true;
    let failure = await this.failureOfAttempt();
    // The session of the try itself may have been ended; that tells nothing of the server yet.
    for (let more = 0; more < 5 && failure !== undefined && meaningOf(failure) === 'lost'; more += 1) {
      await pause(RETRY_MS);
      failure = await this.failureOfAttempt();
    }
    this.isTrying = false;
    // Without a descriptor for the try nobody knows; connections that are open may do.
    if (failure !== undefined && meaningOf(failure) === 'busy') this.watch(PERIOD_MS);
    else if (failure !== undefined) this.went('away', failure);
    else if (this.readOnly.reason) this.watch();
  }

  /** Why the server could not be tried; undefined when it could. */
  private async failureOfAttempt(): Promise<unknown> {
    try {
      this.found(await this.attempt(this.readOnly.reason?.isFull ?? false));
      return undefined;
    } catch (error) {
      return error;
    }
  }

  private found(found: Found): void {
    const isOver = this.away.reason ?? (found === 'writes' && this.readOnly.reason);
    this.away.end();
    if (this.lost !== undefined)
      this.logger.warn(
        `${this.name} ended a connection: ${this.lost}. Reads were repeated, writes on it refused with 503`,
      );
    this.lost = undefined;
    if (found === 'writes') this.readOnly.end();
    if (!isOver) return;
    this.overAt = performance.now();
    this.onOver();
  }
}
