import { LRUCache } from 'lru-cache';
import { outsideOfSpans } from '../../core/tracing.js';
import { TransientMap } from '../../core/transient-map.js';
import { withParameters } from '../dialect.js';
import type { Bound, Row } from './connection.js';

/** Most reads of one statement: more of them would save little, and one that is slow would delay more. */
const MOST_JOINED = 16;
/** Statements of which the joined ones are remembered: clients choose how lists are filtered and sorted, each in a separate one. */
const MOST_STATEMENTS = 500;

interface Waiting {
  readonly parameters: readonly Bound[];
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Joins reads by the same statement: those of one turn of the event loop, or that come while one is under way, are answered
 * by one statement with one hop through the thread pool. Each gets what it would have got alone, and fails alone.
 */
export class JoinedReads {
  private readonly waiting = new TransientMap<string, Waiting[]>();
  /** Joined statements, by the statement and the number of reads. */
  private readonly statements = new LRUCache<string, string[]>({ max: MOST_STATEMENTS });

  /** `all` answers the rows of a statement, of which each may run once at a time. */
  constructor(private readonly all: (sql: string, parameters: readonly Bound[]) => Promise<readonly Row[]>) {}

  /** The row of a statement that answers one at most, with how many parameters is always the same. Rejects as `all` does. */
  first(sql: string, parameters: readonly Bound[]): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      const waiting = this.waiting.get(sql);
      if (waiting) {
        waiting.push({ parameters, resolve, reject });
        return;
      }
      this.waiting.set(sql, [{ parameters, resolve, reject }]);
      // Whatever else has arrived by now is read with it.
      outsideOfSpans(() => setImmediate(() => void this.readAll(sql)));
    });
  }

  private async readAll(sql: string): Promise<void> {
    const waiting = this.waiting.get(sql) ?? [];
    while (waiting.length > 0) {
      // Powers of two: few statements stay prepared.
      const reads = Math.min(MOST_JOINED, 2 ** Math.floor(Math.log2(waiting.length)));
      await this.read(sql, waiting.splice(0, reads));
    }
    this.waiting.delete(sql);
  }

  /** Never rejects: each read is settled by its own outcome. */
  private async read(sql: string, reads: readonly Waiting[]): Promise<void> {
    const [first] = reads;
    if (!first) return;
    try {
      if (reads.length === 1) return first.resolve((await this.all(sql, first.parameters))[0]);
      const joined = this.statement(sql, first.parameters.length, reads.length);
      const rows = new Map<unknown, Row>();
      for (const row of await this.all(
        joined,
        reads.flatMap(({ parameters }) => parameters),
      ))
        rows.set(row[READ_OF_ROW], row);
      for (const [index, { resolve }] of reads.entries()) resolve(rows.get(index));
    } catch (error) {
      // It may be the fault of one alone.
      if (reads.length === 1) first.reject(error);
      else for (const one of reads) await this.read(sql, [one]);
    }
  }

  private statement(sql: string, parameters: number, reads: number): string {
    let statements = this.statements.get(sql);
    if (!statements) this.statements.set(sql, (statements = []));
    return (statements[reads] ??= joinedStatement(sql, parameters, reads));
  }
}

/** The column of a joined statement that shows which read a row is of, counted from 0. */
export const READ_OF_ROW = 'joined read';

/**
 * One statement that answers several reads by the same one, each with its parameters, from one state of the database: the
 * rows of every read, with its number. `parameters` is how many each has; those of the second read follow the first's.
 */
export function joinedStatement(sql: string, parameters: number, reads: number): string {
  return Array.from({ length: reads }, (_, read) => {
    const numbered = withParameters(sql, (place) => `?${place + read * parameters}`);
    return `SELECT ${read} AS "${READ_OF_ROW}", * FROM (${numbered})`;
  }).join(' UNION ALL ');
}
