import type {
  DataSource,
  EntityManager,
  EntityMetadata,
  EntityTarget,
  InsertResult,
  ObjectLiteral,
} from 'typeorm';
import { ApiError } from '../core/errors/api-error.js';
import { outsideOfSpans } from '../core/tracing.js';
import { TransientMap } from '../core/transient-map.js';
import { type BatchedInsert, BatchedInserts, type ReturnedRow } from './batched-insert.js';
import { isStatementTimeout } from './constraint-violations.js';
import type { CachedKind } from './data-version.js';
import { type Dialect, ROW_LOST } from './dialect.js';
import type { Transactions } from './transactions/transactions.js';

const MAX_ROWS = 500;
/** Turns of the event loop between two commits, measured with 5 % and 100 % POSTs. */
const TURNS_BETWEEN_COMMITS = 3;
/**
 * How long a row may have waited for a failed statement if it is to wait for another one, in milliseconds. With the wait for a connection and
 * the statement timeout, a row is refused within 5 s. The single writer of SQLite has no statement timeout.
 */
const MAX_WAIT_MS = 250;

interface InsertingDatabase extends DataSource {
  readonly dialect: Dialect;
  readonly transactions: Transactions;
  /** See Database. */
  autocommit<Row>(
    sql: string,
    parameters: readonly unknown[],
    invalidates: readonly CachedKind[],
  ): Promise<readonly Row[]>;
}

interface PendingInsert {
  readonly row: ObjectLiteral;
  readonly json: string;
  /** When it was queued, by performance.now(). */
  readonly since: number;
  readonly resolve: (result: InsertResult) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Commits the rows of concurrent inserts together. While one commit is written to disk, further rows of the same columns wait in a queue,
 * and then share one INSERT and one commit. Each row still succeeds or fails individually, unless the statement times out.
 * `manager.insert()` and `repository.insert()` use it for rows for which the result is the same.
 */
export class InsertBatches {
  /** The queues of running loops. Each entity has its own, because a lock on its table must not delay the others. */
  private readonly pending = new TransientMap<BatchedInsert, PendingInsert[]>();
  private readonly inserts = new Map<EntityMetadata, BatchedInserts | undefined>();
  /** The definitions of plain tables into which a batch was inserted. */
  private readonly definitions = new Map<BatchedInsert, string>();

  constructor(private readonly database: InsertingDatabase) {}

  /**
   * Inserts a row like `manager.insert()` and resolves once it is committed. Returns undefined, and does nothing, if the row must be
   * inserted separately.
   */
  insert(target: EntityTarget<ObjectLiteral>, row: unknown): Promise<InsertResult> | undefined {
    const { database } = this;
    if (database.transactions.isInside() || database.subscribers.length > 0 || !database.hasMetadata(target))
      return undefined;
    if (typeof row !== 'object' || row === null || Array.isArray(row)) return undefined;
    const metadata = database.getMetadata(target);
    if (!this.inserts.has(metadata))
      this.inserts.set(metadata, BatchedInserts.of(metadata, database.dialect));
    const prepared = this.inserts.get(metadata)?.prepare(row);
    if (!prepared) return undefined;
    const { insert, json } = prepared;
    return new Promise<InsertResult>((resolve, reject) => {
      const queued = { row, json, since: performance.now(), resolve, reject };
      const queue = this.pending.get(insert);
      if (queue) {
        queue.push(queued);
        return;
      }
      this.pending.set(insert, [queued]);
      outsideOfSpans(() => void this.writeAll(insert));
    });
  }

  private async writeAll(insert: BatchedInsert): Promise<void> {
    for (;;) {
      // The inserts of all requests that have already arrived share a commit.
      await new Promise(setImmediate);
      const batch = this.pending.get(insert)?.splice(0, MAX_ROWS) ?? [];
      if (batch.length === 0) break;
      await this.write(insert, batch);
      // In these turns of the event loop, the clients of these rows send their next requests. Otherwise batches would have half as many rows,
      // and each commit invalidates the cached responses.
      for (let turn = 0; turn < TURNS_BETWEEN_COMMITS; turn += 1) await new Promise(setImmediate);
    }
    this.pending.delete(insert);
  }

  /** Settles the promise of each row; never throws. Returns the error if the database refuses the rows, whatever they contain. */
  private async write(insert: BatchedInsert, batch: readonly PendingInsert[]): Promise<ApiError | undefined> {
    let returned: readonly ReturnedRow[];
    try {
      returned = await this.commit(insert, batch);
    } catch (error) {
      if (error instanceof ApiError) return this.refuse(insert, batch, error);
      // A single row may have caused it.
      if (batch.length > 1) return this.writeHalves(insert, batch);
      for (const { reject } of batch) reject(error);
      return undefined;
    }
    for (const [index, { row, resolve, reject }] of batch.entries()) {
      try {
        resolve(insert.resultOf(row, returned[index] ?? {}));
      } catch (error) {
        // A transformer of the entity failed; the row is stored.
        reject(error);
      }
    }
    return undefined;
  }

  /**
   * Refuses the rows of a batch. An unavailable database refuses the queued rows as well, which would each wait as long. A statement that
   * timed out says nothing of them, but those that have already waited long would wait too long for another one.
   */
  private refuse(insert: BatchedInsert, batch: readonly PendingInsert[], error: ApiError): ApiError {
    const queue = this.pending.get(insert);
    const refused = isStatementTimeout(error.cause) ? queue?.filter(hasWaitedLong) : queue?.slice();
    // Rows are queued in the order of their arrival.
    queue?.splice(0, refused?.length);
    for (const { reject } of [...batch, ...(refused ?? [])]) reject(error);
    return error;
  }

  /** Halves, because one wrong row among many then costs few statements. */
  private async writeHalves(
    insert: BatchedInsert,
    batch: readonly PendingInsert[],
  ): Promise<ApiError | undefined> {
    const middle = Math.ceil(batch.length / 2);
    const [first, second] = [batch.slice(0, middle), batch.slice(middle)];
    const refusal = await this.write(insert, first);
    return refusal ? this.refuse(insert, second, refusal) : this.write(insert, second);
  }

  /** Returns the row returned by the database for each inserted row, in order. */
  private async commit(
    insert: BatchedInsert,
    batch: readonly PendingInsert[],
  ): Promise<readonly ReturnedRow[]> {
    const rows = `[${batch.map(({ json }) => json).join(',')}]`;
    const returned = await this.commitPlain(insert, rows);
    return returned ?? this.commitChecked(insert, batch, rows);
  }

  /**
   * Inserts the rows in one statement, because the three statements of a transaction would each wait for a turn of the event loop, which
   * triples the time of a POST under load. Undefined if the table is not known to be plain, or has a rule that such a statement cannot follow.
   */
  private async commitPlain(
    insert: BatchedInsert,
    rows: string,
  ): Promise<readonly ReturnedRow[] | undefined> {
    const { dialect } = this.database;
    const definition = this.definitions.get(insert);
    if (dialect.plainInserts.definition !== undefined && definition === undefined) return undefined;
    const parameters = definition === undefined ? [rows] : [rows, definition];
    const returned = await this.database.autocommit<ReturnedRow>(insert.plainSql, parameters, ['responses']);
    if (returned.length > 0)
      return dialect.hasMonotonicIds ? returned.toSorted(byId(insert.idName)) : returned;
    this.definitions.delete(insert);
    return undefined;
  }

  /** In a transaction, which is rolled back if it is unclear which id belongs to which row. */
  private commitChecked(
    insert: BatchedInsert,
    batch: readonly PendingInsert[],
    rows: string,
  ): Promise<readonly ReturnedRow[]> {
    const { metadata, sql, idName } = insert;
    const { dialect, transactions } = this.database;
    const changes: CachedKind[] = ['responses'];
    return transactions.commitChanging(changes, async (_, manager) => {
      const definition = await this.definitionOf(metadata.tableName, manager);
      if (definition === undefined) changes.push('rows');
      const returned = await manager.query<ReturnedRow[]>(sql, [rows]);
      const ids = returned.map((row) => row[idName]);
      // It is unknown which row is missing.
      if (ids.length !== batch.length || ids.includes(null)) throw new Error(ROW_LOST);
      if (dialect.hasMonotonicIds && !areAscending(ids)) throw new Error(ROW_LOST);
      if (definition !== undefined) this.definitions.set(insert, definition);
      return returned;
    });
  }

  /** The definition of a plain table; undefined for a table whose inserts may affect other rows. */
  private async definitionOf(tableName: string, manager: EntityManager): Promise<string | undefined> {
    const { definition } = this.database.dialect.plainInserts;
    if (definition === undefined) return undefined;
    const [table] = await manager.query<{ definition: string }[]>(definition, [tableName]);
    return table?.definition;
  }
}

/** SQLite does not guarantee the order of RETURNING, but ids increase, until the largest id is used. */
function areAscending(ids: readonly unknown[]): boolean {
  return ids.every((id, at) => at === 0 || BigInt(String(id)) > BigInt(String(ids[at - 1])));
}

/** Orders returned rows by their ids, which increase in the order of the inserted rows. */
function byId(idName: string): (a: ReturnedRow, b: ReturnedRow) => number {
  return (a, b) => (BigInt(String(a[idName])) < BigInt(String(b[idName])) ? -1 : 1);
}

function hasWaitedLong({ since }: PendingInsert): boolean {
  return performance.now() - since > MAX_WAIT_MS;
}
