import { LRUCache } from 'lru-cache';
import { outsideOfSpans } from '../core/tracing.js';
import { TransientMap } from '../core/transient-map.js';
import type { Parameter, Row } from './database.js';
import { withParameters } from './dialect.js';

/** Number of statements whose joined forms are cached; clients choose filters and orders, which form separate statements. */
const MAX_STATEMENTS = 500;

/** How a database runs joined reads. */
interface Joining {
  /** Maximum number of reads per statement, because more save little, and a slow one delays the others. */
  readonly max: number;
  /** Whether a statement must not run while the same one runs; otherwise, reads do not wait for earlier ones. */
  readonly areSerial: boolean;
  /** Whether an error of a joined statement applies to all of its reads, rather than being caused by one of them. */
  readonly isShared: (error: unknown) => boolean;
}

interface PendingRead {
  readonly parameters: readonly Parameter[];
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Joins reads of the same statement that arrive in one turn of the event loop, and serial ones that arrive during another, into one
 * statement. Each succeeds or fails as it would alone.
 */
export class JoinedReads {
  private readonly pending = new TransientMap<string, PendingRead[]>();
  /** Joined statements by original statement and maximum number of reads. */
  private readonly statements = new LRUCache<string, string[]>({ max: MAX_STATEMENTS });

  /** `all` returns the rows of a statement. */
  constructor(
    private readonly all: (sql: string, parameters: readonly Parameter[]) => Promise<readonly Row[]>,
    private readonly how: Joining,
  ) {}

  /** The row of a statement that returns at most one and has a fixed number of parameters. Rejects like `all`. */
  first(sql: string, parameters: readonly Parameter[]): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      const pending = this.pending.get(sql);
      if (pending) {
        pending.push({ parameters, resolve, reject });
        return;
      }
      this.pending.set(sql, [{ parameters, resolve, reject }]);
      // The reads of requests that are handled together join it.
      outsideOfSpans(() => process.nextTick(() => void this.readAll(sql)));
    });
  }

  private async readAll(sql: string): Promise<void> {
    const pending = this.pending.get(sql) ?? [];
    while (pending.length > 0) {
      const reading = this.read(sql, pending.splice(0, this.how.max));
      if (this.how.areSerial) await reading;
    }
    this.pending.delete(sql);
  }

  /** Settles each read; never rejects. */
  private async read(sql: string, reads: readonly PendingRead[]): Promise<void> {
    const [first] = reads;
    if (!first) return;
    try {
      if (reads.length === 1) return first.resolve((await this.all(sql, first.parameters))[0]);
      // A power of two, so that few statements stay prepared. What is beyond the number of reads is not executed.
      const max = 2 ** Math.ceil(Math.log2(reads.length));
      const parameters = Array.from({ length: max }, (_, index) => (reads[index] ?? first).parameters).flat();
      const joined = this.statement(sql, first.parameters.length, max);
      const rows = new Map<unknown, Row>();
      for (const row of await this.all(joined, [...parameters, reads.length])) rows.set(row[READ_INDEX], row);
      for (const [index, { resolve }] of reads.entries()) resolve(rows.get(index));
    } catch (error) {
      if (reads.length === 1 || this.how.isShared(error)) for (const { reject } of reads) reject(error);
      else await this.readEach(sql, reads);
    }
  }

  /** Reads each alone, because one of them may have caused the error of all. */
  private async readEach(sql: string, reads: readonly PendingRead[]): Promise<void> {
    for (const one of reads) {
      const reading = this.read(sql, [one]);
      if (this.how.areSerial) await reading;
    }
  }

  private statement(sql: string, parameters: number, max: number): string {
    let statements = this.statements.get(sql);
    if (!statements) this.statements.set(sql, (statements = []));
    return (statements[max] ??= joinedStatement(sql, parameters, max));
  }
}

/** Column with the index of the read that a row belongs to. */
const READ_INDEX = 'joined read';

/**
 * A statement that performs up to `max` reads on one snapshot, with the index of the read in each row. `parameters` is the number of
 * parameters of each read; their number is a further parameter, after those of `max` reads.
 */
function joinedStatement(sql: string, parameters: number, max: number): string {
  return Array.from({ length: max }, (_, read) => {
    const numbered = withParameters(sql, (place) => `?${place + read * parameters}`);
    return `SELECT ${read} AS "${READ_INDEX}", * FROM (${numbered}) AS "read" WHERE ?${max * parameters + 1} > ${read}`;
  }).join(' UNION ALL ');
}
