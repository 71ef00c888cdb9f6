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
import { BatchedInsert, type ToldRow } from './batched-insert.js';
import type { CachedKind, DataVersion } from './data-version.js';
import type { Dialect } from './dialect.js';
import type { Transactions } from './transactions/transactions.js';

/** Maximum number of rows of one INSERT. */
const MOST_ROWS = 500;

/** What it needs of a Database. */
interface InsertingDatabase extends DataSource {
  readonly dialect: Dialect;
  readonly transactions: Transactions;
  readonly dataVersion: DataVersion;
}

interface Waiting {
  readonly row: ObjectLiteral;
  readonly json: string;
  readonly resolve: (result: InsertResult) => void;
  readonly reject: (reason: unknown) => void;
}

const KEPT_OUT =
  'The database returned no id for an inserted row: a trigger or ON CONFLICT has dropped or redirected it.';

/**
 * Commits rows together that concurrent requests insert: while one commit is written to disk the next rows queue, and are then
 * written by one INSERT and one commit. Each row still succeeds or fails by itself. `manager.insert()` and
 * `repository.insert()` use it for rows that one statement inserts exactly as a statement for each would.
 */
export class InsertBatches {
  private readonly waiting = new TransientMap<BatchedInsert, Waiting[]>();
  private readonly inserts = new Map<EntityMetadata, BatchedInsert | undefined>();
  private readonly doingMore = new Map<
    string,
    { readonly version: number | undefined; readonly isMore: boolean }
  >();
  private isWriting = false;

  constructor(private readonly database: InsertingDatabase) {}

  /**
   * Inserts a row, resolves once it is committed, and sets what the database generates on it, as `manager.insert()` does.
   * Undefined, and nothing is done, when the row must be inserted by itself.
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
      const rows = this.waiting.get(insert) ?? [];
      this.waiting.set(insert, rows);
      rows.push({ row, json, resolve, reject });
      if (this.isWriting) return;
      this.isWriting = true;
      // Whatever else has arrived by now is read before the first commit begins.
      outsideOfSpans(() => setImmediate(() => void this.writeAll()));
    });
  }

  private async writeAll(): Promise<void> {
    for (let next = this.waiting.first(); next; next = this.waiting.first()) {
      const [insert, rows] = next;
      const batch = rows.splice(0, MOST_ROWS);
      // To the end of the queue: no entity waits for another whose rows keep coming.
      this.waiting.delete(insert);
      if (rows.length > 0) this.waiting.set(insert, rows);
      await this.write(insert, batch);
    }
    this.isWriting = false;
  }

  /** Never throws: each row's promise is settled by its own outcome. Returns why the database refuses whatever comes. */
  private async write(insert: BatchedInsert, batch: readonly Waiting[]): Promise<ApiError | undefined> {
    try {
      const told = await this.commit(insert, batch);
      // A turn later: the next batch is on its way to the disk before this one's responses are written.
      setImmediate(() => {
        for (const [index, { row, resolve, reject }] of batch.entries()) {
          try {
            resolve(insert.resultOf(row, told[index] ?? {}));
          } catch (error) {
            // A transformer of the entity: the row is there.
            reject(error);
          }
        }
      });
    } catch (error) {
      // A busy database refuses all of them and those queued behind, each of which would wait as long again; any other error may
      // be caused by one row.
      if (error instanceof ApiError) {
        for (const { reject } of [...batch, ...this.takeAll()]) reject(error);
        return error;
      }
      if (batch.length === 1) batch[0]?.reject(error);
      else await this.writeEach(insert, batch);
    }
    return undefined;
  }

  private async writeEach(insert: BatchedInsert, batch: readonly Waiting[]): Promise<void> {
    for (const [at, one] of batch.entries()) {
      const refusal = await this.write(insert, [one]);
      if (!refusal) continue;
      for (const { reject } of batch.slice(at + 1)) reject(refusal);
      return;
    }
  }

  private takeAll(): Waiting[] {
    const all = this.waiting.all().flatMap(([, rows]) => rows);
    this.waiting.clear();
    return all;
  }

  /** What the database returns for each row, in their order. */
  private commit(
    { metadata, sql, idName }: BatchedInsert,
    batch: readonly Waiting[],
  ): Promise<readonly ToldRow[]> {
    const { dialect, transactions } = this.database;
    const changes: CachedKind[] = ['responses'];
    return transactions.commitChanging(changes, async (_, manager) => {
      if (await this.doesMore(metadata.tableName, manager)) changes.push('rows');
      const told = await manager.query<ToldRow[]>(sql, [`[${batch.map(({ json }) => json).join(',')}]`]);
      const ids = told.map((row) => row[idName]);
      // It is unknown which of them failed.
      if (ids.length !== batch.length || ids.includes(null)) throw new Error(KEPT_OUT);
      if (dialect.generatesGrowingIds && !areAscending(ids)) throw new Error(KEPT_OUT);
      return told;
    });
  }

  /** Whether an insert may do more than insert. Found out again after commits that may have changed that. */
  private async doesMore(tableName: string, manager: EntityManager): Promise<boolean> {
    const { dialect, dataVersion } = this.database;
    const { insertsDoMore } = dialect;
    if (insertsDoMore === undefined) return true;
    const { rows: version } = dataVersion.versions();
    const known = this.doingMore.get(tableName);
    if (known && version !== undefined && known.version === version) return known.isMore;
    const isMore = (await manager.query<unknown[]>(insertsDoMore, [tableName])).length > 0;
    this.doingMore.set(tableName, { version, isMore });
    return isMore;
  }
}

/** SQLite promises no order of what it returns, but counts upwards, until there is a row with the largest id. */
function areAscending(ids: readonly unknown[]): boolean {
  return ids.every((id, at) => at === 0 || BigInt(String(id)) > BigInt(String(ids[at - 1])));
}
