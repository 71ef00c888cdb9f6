import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import type { ApiError } from '../../core/errors/api-error.js';
import { Outage } from '../outage.js';
import { unavailable } from '../unavailable.js';
import { ANSWER_LATE_MS } from './postgres-options.js';

/** How long pg may wait for the response to a commit, in milliseconds: the maximum of a timer. After its own limit it closes the socket. */
const NEVER: { readonly query_timeout: number } = { query_timeout: 2 ** 31 - 1 };
/** After this time in which all commits were confirmed in time, the server counts as recovered, in milliseconds. */
const CALM_MS = 5_000;
/** A commit was not confirmed in time; it may be carried out later. */
export class LateCommit extends Error {
  constructor() {
    super('a commit was not confirmed in time');
  }
}

/**
 * Commits that PostgreSQL does not confirm: no limit of the server ends one that waits for a standby. Its connection stays in
 * use until the server has responded, or the connection is lost.
 */
export class LateCommits {
  /** Each connection whose commit is late: when it is free, and what frees it before the response. */
  private readonly late = new Map<
    PoolClient,
    { readonly free: Promise<void>; readonly giveUp: () => void }
  >();
  private readonly outage: Outage<true>;
  private giveUpAll!: () => void;
  private readonly ended = new Promise<void>((resolve) => (this.giveUpAll = resolve));

  /**
   * `name` is how the log calls the database; a commit may take `limitMs`, 0 for no limit; `most` of them may be late. `onFull` is
   * called when no more may be late.
   */
  constructor(
    name: string,
    private readonly limitMs: number,
    private readonly most: number,
    private readonly onFull: (fault: ApiError) => void,
  ) {
    this.outage = new Outage({
      begun: () =>
        `${name} does not confirm commits: one took too long. Its write was refused with 503, and may be carried out later; ` +
        'reads continue.',
      over: (seconds, times) => `${name} confirms commits again, after ${seconds} s: ${times} were late`,
      quietMs: CALM_MS,
      goesOn: () => this.late.size > 0,
    });
  }

  /** Why nothing can be written at the moment; undefined while something can. */
  get fault(): ApiError | undefined {
    if (this.late.size < this.most) return undefined;
    return unavailable(
      'the database does not confirm commits',
      new Error(`${this.late.size} are late`),
      true,
    );
  }

  /**
   * Sends a statement that commits. Resolves when the response arrives; rejects with LateCommit when that takes too long. The server may
   * carry it out later.
   */
  send(client: PoolClient, query: QueryConfig): Promise<QueryResult> {
    const response = client.query({ ...query, ...NEVER });
    if (this.limitMs === 0) return response;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.keep(client, response.then(ignored, ignored));
        reject(new LateCommit());
      }, this.limitMs + ANSWER_LATE_MS);
      response.finally(() => clearTimeout(timer)).then(resolve, reject);
    });
  }

  /** Resolves when a connection is free whose commit is late; undefined when none is late on it. */
  free(client: PoolClient): Promise<void> | undefined {
    return this.late.get(client)?.free;
  }

  /** The ids of the server's processes with a late commit. */
  get processes(): readonly number[] {
    return [...this.late.keys()].map(processOf);
  }

  /**
   * Waits for no commit any more but those that these processes of the server are still working on. A connection may be dead without
   * knowing it, which TCP finds out after 11 minutes.
   */
  giveUpOthers(working: readonly number[]): void {
    for (const [client, { giveUp }] of this.late) if (!working.includes(processOf(client))) giveUp();
  }

  /** At the end of the process: waits for no commit any more. */
  end(): void {
    this.giveUpAll();
  }

  private keep(client: PoolClient, answered: Promise<void>): void {
    let giveUp!: () => void;
    const givenUp = new Promise<void>((resolve) => (giveUp = resolve));
    const free = Promise.race([answered, givenUp, this.ended]).then(() => void this.late.delete(client));
    this.late.set(client, { free, giveUp });
    this.outage.note(() => true);
    if (this.fault) this.onFull(this.fault);
  }
}

/** The id of the server's process at the other end of a connection. */
export function processOf(client: object): number {
  return (client as { readonly processID: number }).processID;
}

const ignored = (): void => undefined;
