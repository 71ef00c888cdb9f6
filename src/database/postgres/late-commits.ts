import { Logger } from '@nestjs/common';
import type { PoolClient, QueryResult } from 'pg';
import type { ApiError } from '../../core/errors/api-error.js';
import { unavailable } from '../unavailable.js';
import { WaitedTooLong, withinLimit } from './request-waits.js';

/** How much longer than the server this process waits for the end of a statement, in milliseconds. */
export const ANSWER_LATE_MS = 500;
/** What pg may wait for the answer to a commit, in milliseconds: the longest of a timer. After its own limit it closes the socket. */
const NEVER: { readonly query_timeout: number } = { query_timeout: 2 ** 31 - 1 };
/** How often it is looked what has become of commits that were not answered, in milliseconds. */
const LOOK_MS = 1_000;
/** In how many looks in a row the server must not work on a commit for it to be over: its answer may be on the way. */
const IDLE_LOOKS = 2;
/** How long each commit must have been answered in time for the server to answer commits again, in milliseconds. */
const CALM_MS = 5_000;

/** What pg is asked. */
export interface Query {
  readonly text: string;
  readonly values?: unknown[];
}

/** A commit was not answered in time. It may be carried out until `over` resolves, and may have been after that. */
export class LateCommit extends Error {
  constructor(readonly over: Promise<void>) {
    super('a commit was not answered in time');
  }
}

/** The commit that was not answered, of what was thrown for it; undefined when it was something else. */
export function lateCommitOf(error: unknown): LateCommit | undefined {
  if (error instanceof LateCommit) return error;
  if (!(error instanceof Error)) return undefined;
  return lateCommitOf((error as { driverError?: unknown }).driverError ?? error.cause);
}

/** How a connection is kept whose commit is not answered. */
interface Kept {
  readonly pid: number | undefined;
  readonly over: Promise<void>;
  readonly end: () => void;
  /** In how many looks in a row the server did not work on it. */
  idleLooks: number;
}

/** Since when commits are not answered in time, by `performance.now()`. */
interface Trouble {
  readonly since: number;
  lastAt: number;
  count: number;
  /** Whether one was answered after all: its connection was not lost. */
  isAnswered: boolean;
  /** Whether the server could not be asked in the meantime: the log has that by itself. */
  isAway: boolean;
  /** Whether the log has it. */
  isTold: boolean;
}

/**
 * Commits that PostgreSQL does not answer: one that waits for a standby is ended by no limit of the server, and its session lives on
 * there when its connection is closed. So the connection is kept, and its place in the pool stays taken, until the commit is over:
 * the server has answered, the connection was lost, or the server no longer works on it.
 */
export class LateCommits {
  private readonly logger = new Logger('Database');
  private readonly kept = new Map<PoolClient, Kept>();
  private trouble: Trouble | undefined;
  private timer: NodeJS.Timeout | undefined;

  /**
   * `name` is how the log calls the database; a commit may take `limitMs`, 0 for no limit; `most` of them may be late. `workingOf` tells
   * which of the server's processes work on a statement, and undefined where that cannot be known; `onFull` is called when no more may be
   * late.
   */
  constructor(
    private readonly name: string,
    private readonly limitMs: number,
    private readonly most: number,
    private readonly workingOf: (pids: readonly number[]) => Promise<ReadonlySet<number> | undefined>,
    private readonly onFull: (fault: ApiError) => void,
  ) {}

  /** Why nothing can be written at the moment; undefined while something can. */
  get fault(): ApiError | undefined {
    if (this.kept.size < this.most) return undefined;
    return unavailable('the database does not answer commits', new Error(`${this.kept.size} are late`), true);
  }

  /** Sends a statement that commits. Throws LateCommit when it is not answered in that time, in milliseconds; the general limit by default. */
  async commit(client: PoolClient, query: Query, limitMs: number | undefined): Promise<QueryResult> {
    if (limitMs === undefined && this.limitMs === 0) return client.query(query);
    const answer = client.query({ ...query, ...NEVER });
    try {
      return await withinLimit(answer, (limitMs ?? this.limitMs) + ANSWER_LATE_MS);
    } catch (error) {
      throw error instanceof WaitedTooLong ? new LateCommit(this.keep(client, answer)) : error;
    }
  }

  /** Resolves when the commit on this connection is over; undefined when none is late on it. */
  over(client: PoolClient): Promise<void> | undefined {
    return this.kept.get(client)?.over;
  }

  /** Keeps no connections any more. */
  end(): void {
    clearTimeout(this.timer);
    this.trouble = undefined;
    for (const { end } of this.kept.values()) end();
  }

  private keep(client: PoolClient, answer: Promise<unknown>): Promise<void> {
    let resolve!: () => void;
    const over = new Promise<void>((done) => (resolve = done));
    const end = () => {
      this.kept.delete(client);
      if (this.trouble) this.trouble.lastAt = performance.now();
      resolve();
    };
    this.kept.set(client, { pid: pidOf(client), over, end, idleLooks: 0 });
    void this.follow(answer, end);
    this.note();
    const { fault } = this;
    if (fault) this.onFull(fault);
    return over;
  }

  private async follow(answer: Promise<unknown>, end: () => void): Promise<void> {
    try {
      await answer;
      if (this.trouble) this.trouble.isAnswered = true;
    } catch {
      // Who has sent it was told already that nobody knows.
    } finally {
      end();
    }
  }

  private note(): void {
    const now = performance.now();
    if (!this.trouble) {
      this.trouble = { since: now, lastAt: now, count: 0, isAnswered: false, isAway: false, isTold: false };
      this.lookLater();
    }
    this.trouble.lastAt = now;
    this.trouble.count += 1;
  }

  private lookLater(): void {
    this.timer = setTimeout(() => void this.look(), LOOK_MS);
    // The timer alone must not keep the process running.
    this.timer.unref();
  }

  private async look(): Promise<void> {
    const { trouble } = this;
    if (!trouble) return;
    try {
      const isThere = this.kept.size > 0;
      if (isThere) await this.endIdle();
      if (isThere || (trouble.isAnswered && !trouble.isAway)) this.tell(trouble);
    } catch {
      trouble.isAway = true;
    }
    if (!this.trouble) return;
    if (this.kept.size > 0 || performance.now() - trouble.lastAt < CALM_MS) {
      this.lookLater();
      return;
    }
    this.trouble = undefined;
    const seconds = Math.round((trouble.lastAt - trouble.since) / 1_000);
    if (trouble.isTold)
      this.logger.log(`${this.name} answers commits again, after ${seconds} s: ${trouble.count} were late`);
  }

  private tell(trouble: Trouble): void {
    if (trouble.isTold) return;
    trouble.isTold = true;
    this.logger.error(
      `${this.name} does not answer commits: one took longer than it may. Its write was refused with 503, and may be carried out later; reads go on.`,
    );
  }

  /** Where the network has swallowed a commit or its answer, nothing is heard of it any more. */
  private async endIdle(): Promise<void> {
    const pids = [...this.kept.values()].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
    const working = await this.workingOf(pids);
    if (!working) return;
    for (const one of this.kept.values()) {
      if (one.pid === undefined || !pids.includes(one.pid)) continue;
      one.idleLooks = working.has(one.pid) ? 0 : one.idleLooks + 1;
      if (one.idleLooks === IDLE_LOOKS) one.end();
    }
  }
}

/** The server's process of a connection, as the server has told; before it a pooler tells a number of its own. */
export function pidOf(client: PoolClient): number | undefined {
  return (client as PoolClient & { readonly processID?: number }).processID;
}
