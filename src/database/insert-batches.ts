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
import { BatchedInsert, type ReturnedRow } from './batched-insert.js';
import type { CachedKind, DataVersion } from './data-version.js';
import type { Dialect } from './dialect.js';
import type { Transactions } from './transactions/transactions.js';

const MAX_ROWS = 500;

interface InsertingDatabase extends DataSource {
  readonly dialect: Dialect;
  readonly transactions: Transactions;
  readonly dataVersion: DataVersion;
}

interface PendingInsert {
  readonly row: ObjectLiteral;
  readonly json: string;
  readonly resolve: (result: InsertResult) => void;
  readonly reject: (reason: unknown) => void;
}

const ROW_LOST =
  'The database returned no id for an inserted row: a trigger or ON CONFLICT has dropped or redirected it.';

/**
 * Commits the rows of concurrent inserts together: while one commit is written to disk, further rows queue up, and then share one INSERT
 * and one commit. Each row still succeeds or fails individually. `manager.insert()` and `repository.insert()` use it for rows for which the
 * result is the same.
 */
export class InsertBatches {
  private readonly pending = new TransientMap<BatchedInsert, PendingInsert[]>();
  private readonly inserts = new Map<EntityMetadata, BatchedInsert | undefined>();
  private readonly triggerCache = new Map<
    string,
    { readonly version: number | undefined; readonly hasTriggers: boolean }
  >();
  private isWriting = false;

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
    if (!this.inserts.has(metadata)) this.inserts.set(metadata, BatchedInsert.of(metadata, database.dialect));
    const insert = this.inserts.get(metadata);
    const json = insert?.jsonOf(row);
    if (!insert || json === undefined) return undefined;
    return new Promise<InsertResult>((resolve, reject) => {
      const rows = this.pending.get(insert) ?? [];
      this.pending.set(insert, rows);
      rows.push({ row, json, resolve, reject });
      if (this.isWriting) return;
      this.isWriting = true;
      // Other requests that have already arrived join the first commit.
      outsideOfSpans(() => setImmediate(() => void this.writeAll()));
    });
  }

  private async writeAll(): Promise<void> {
    for (let next = this.pending.first(); next; next = this.pending.first()) {
      const [insert, rows] = next;
      const batch = rows.splice(0, MAX_ROWS);
      // Moved to the end of the queue, so that a busy entity does not block the others.
      this.pending.delete(insert);
      if (rows.length > 0) this.pending.set(insert, rows);
      await this.write(insert, batch);
    }
    this.isWriting = false;
  }

  /** Settles the promise of each row; never throws. Returns the error if the database refuses all writes. */
  private async write(insert: BatchedInsert, batch: readonly PendingInsert[]): Promise<ApiError | undefined> {
    try {
      const returned = await this.commit(insert, batch);
      // In the next turn of the event loop, so that the next batch is written while these responses are sent.
      setImmediate(() => {
        for (const [index, { row, resolve, reject }] of batch.entries()) {
          try {
            resolve(insert.resultOf(row, returned[index] ?? {}));
          } catch (error) {
            // A transformer of the entity failed; the row is stored.
            reject(error);
          }
        }
      });
    } catch (error) {
      // An unavailable database refuses this batch and all queued rows, which would each wait as long. Any other error may be caused by a
      // single row.
      if (error instanceof ApiError) {
        for (const { reject } of [...batch, ...this.takeAll()]) reject(error);
        return error;
      }
      if (batch.length === 1) batch[0]?.reject(error);
      else await this.writeEach(insert, batch);
    }
    return undefined;
  }

  private async writeEach(insert: BatchedInsert, batch: readonly PendingInsert[]): Promise<void> {
    for (const [at, one] of batch.entries()) {
      const refusal = await this.write(insert, [one]);
      if (!refusal) continue;
      for (const { reject } of batch.slice(at + 1)) reject(refusal);
      return;
    }
  }

  private takeAll(): PendingInsert[] {
    const all = this.pending.all().flatMap(([, rows]) => rows);
    this.pending.clear();
    return all;
  }

  /** Returns the row returned by the database for each inserted row, in order. */
  private commit(
    { metadata, sql, idName }: BatchedInsert,
    batch: readonly PendingInsert[],
  ): Promise<readonly ReturnedRow[]> {
    const { dialect, transactions } = this.database;
    const changes: CachedKind[] = ['responses'];
    return transactions.commitChanging(changes, async (_, manager) => {
      if (await this.hasTriggers(metadata.tableName, manager)) changes.push('rows');
      const returned = await manager.query<ReturnedRow[]>(sql, [
        `[${batch.map(({ json }) => json).join(',')}]`,
      ]);
      const ids = returned.map((row) => row[idName]);
      // It is unknown which row is missing.
      if (ids.length !== batch.length || ids.includes(null)) throw new Error(ROW_LOST);
      if (dialect.hasMonotonicIds && !areAscending(ids)) throw new Error(ROW_LOST);
      return returned;
    });
  }

  /** Whether inserts may affect other rows. Checked again after commits that may have changed that. */
  private async hasTriggers(tableName: string, manager: EntityManager): Promise<boolean> {
    const { dialect, dataVersion } = this.database;
    const { hasTriggers: hasTriggersSql } = dialect;
    if (hasTriggersSql === undefined) return true;
    const { rows: version } = dataVersion.versions();
    const cached = this.triggerCache.get(tableName);
    if (cached && version !== undefined && cached.version === version) return cached.hasTriggers;
    const hasTriggers = (await manager.query<unknown[]>(hasTriggersSql, [tableName])).length > 0;
    this.triggerCache.set(tableName, { version, hasTriggers });
    return hasTriggers;
  }
}

/** SQLite does not guarantee the order of RETURNING, but ids increase, until the largest id is used. */
function areAscending(ids: readonly unknown[]): boolean {
  return ids.every((id, at) => at === 0 || BigInt(String(id)) > BigInt(String(ids[at - 1])));
}
