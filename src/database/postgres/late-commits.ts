import type { PoolClient, QueryResult } from 'pg';
import type { ApiError } from '../../core/errors/api-error.js';
import { Outage } from '../outage.js';
import type { AskBehind } from '../shared-data-version.js';
import { unavailable } from '../unavailable.js';

/** How much longer than the server this process waits for the end of a statement, in milliseconds. */
export const ANSWER_LATE_MS = 500;
/** What pg may wait for the answer to a commit, in milliseconds: the longest of a timer. After its own limit it closes the socket. */
const NEVER: { readonly query_timeout: number } = { query_timeout: 2 ** 31 - 1 };
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

/**
 * Commits that PostgreSQL does not answer: one that waits for a standby is ended by no limit of the server, and its session lives on
 * there when its connection is closed or lost. So its place in the pool stays taken until the commit is over: the server has answered,
 * or works on none any more: the network may lose its answer, and another server may be in its place. An outage alone ends none of
 * them, for the same server may go on with them.
 */
export class LateCommits {
  private readonly kept = new Map<PoolClient, { readonly over: Promise<void>; readonly end: () => void }>();
  private readonly outage: Outage<true>;

  /**
   * `name` is how the log calls the database; a commit may take `limitMs`, 0 for no limit; `most` of them may be late. `isAtWork` asks
   * the server whether it works on one; `onFull` is called when no more may be late.
   */
  constructor(
    name: string,
    private readonly limitMs: number,
    private readonly most: number,
    private readonly isAtWork: () => Promise<boolean>,
    private readonly onFull: (fault: ApiError) => void,
  ) {
    this.outage = new Outage({
      begun: () =>
        `${name} does not answer commits: one took longer than it may. Its write was refused with 503, and may be carried out later; ` +
        'reads continue.',
      over: (seconds, times) => `${name} answers commits again, after ${seconds} s: ${times} were late`,
      quietMs: CALM_MS,
      goesOn: () => {
        if (this.kept.size > 0) void this.look();
        return this.kept.size > 0;
      },
    });
  }

  /** Why nothing can be written at the moment; undefined while something can. */
  get fault(): ApiError | undefined {
    if (this.kept.size < this.most) return undefined;
    return unavailable('the database does not answer commits', new Error(`${this.kept.size} are late`), true);
  }

  /** Sends a statement that commits, and what `behind` sends. Throws LateCommit when it is not answered in time. */
  async commit(client: PoolClient, query: Query, behind?: (ask: AskBehind) => void): Promise<QueryResult> {
    const answer = client.query({ ...query, ...NEVER });
    behind?.(async (text, values) => (await client.query<object>({ text, values, ...NEVER })).rows);
    if (this.limitMs === 0) return answer;
    return new Promise((resolve, reject) => {
      const late = () => reject(new LateCommit(this.keep(client, answer)));
      const timer = setTimeout(late, this.limitMs + ANSWER_LATE_MS);
      answer.finally(() => clearTimeout(timer)).then(resolve, reject);
    });
  }

  /** Resolves when the commit on this connection is over; undefined when none is late on it. */
  over(client: PoolClient): Promise<void> | undefined {
    return this.kept.get(client)?.over;
  }

  /** At the end of the process: waits for no commit any more that is late now. */
  giveUp(): void {
    for (const { end } of this.kept.values()) end();
  }

  /** Asks what has become of those that are late now. */
  private async look(): Promise<void> {
    const late = [...this.kept.values()];
    if (!(await this.isAtWork())) for (const { end } of late) end();
  }

  private keep(client: PoolClient, answer: Promise<unknown>): Promise<void> {
    let end!: () => void;
    const over = new Promise<void>((resolve) => (end = resolve)).then(() => void this.kept.delete(client));
    this.kept.set(client, { over, end });
    // Who has sent it was told already that nobody knows. A session may go on after its connection was lost.
    answer.then(end, (error: unknown) => (isAnswer(error) ? end() : void this.look()));
    this.outage.note(() => true);
    const { fault } = this;
    if (fault) this.onFull(fault);
    return over;
  }
}

/** Whether an error is what the server has answered. */
function isAnswer(error: unknown): boolean {
  return error instanceof Error && 'severity' in error;
}
