import type { EntityManager, EntityMetadata, EntityTarget, InsertResult, ObjectLiteral } from 'typeorm';
import { ApiError } from '../core/errors/api-error.js';
import { type CommittingDatabase, commitChanging } from './cache-neutral-writes.js';
import { type CachedKind, kindsWithNewRow } from './data-version.js';
import type { Database } from './database.js';
import type { Dialect } from './dialect.js';
import { insertOneByOne, insertTogether } from './insert-rows.js';
import type { RequestWaits } from './request-waits.js';
import { outsideOfSpans } from '../core/tracing/spans.js';
import { TransientMap } from '../core/transient-map.js';
import { inStatementSpan } from './statement-span.js';
import { unavailable } from './unavailable.js';

/** Rows of one INSERT at most. */
const MOST_ROWS = 500;
/** Values of one INSERT at most: SQLite takes 32,766, PostgreSQL 65,535. */
const MOST_VALUES = 32_766;

/** How long the request of a row must still be able to wait for the row to be written, in milliseconds. */
const LEAST_MS = 500;

interface Waiting {
  readonly row: ObjectLiteral;
  readonly resolve: (result: InsertResult) => void;
  readonly reject: (reason: unknown) => void;
  /** How long its request may still wait, in milliseconds. */
  readonly leftMs: () => number;
}

/**
 * Commits rows together that concurrent requests insert: while one commit is written to disk the next rows queue, and are then
 * written by one INSERT and one commit. Each row still succeeds or fails by itself. `manager.insert()` and
 * `repository.insert()` use it for rows that one statement inserts exactly as a statement for each would.
 */
export class GroupedInserts {
  private readonly waiting = new TransientMap<EntityMetadata, Waiting[]>();
  private readonly groupable = new WeakMap<EntityMetadata, boolean>();
  private readonly doingMore = new Map<
    string,
    { readonly version: number | undefined; readonly isMore: boolean }
  >();
  private isWriting = false;

  constructor(
    private readonly database: CommittingDatabase,
    private readonly waits: RequestWaits,
  ) {}

  /**
   * Inserts a row, resolves once it is committed, and sets what the database generates on it, as `manager.insert()` does.
   * Undefined, and nothing is done, when the row must be inserted by itself.
   */
  insert(target: EntityTarget<ObjectLiteral>, row: unknown): Promise<InsertResult> | undefined {
    const { dataSource, transactions } = this.database;
    if (transactions.isInside() || dataSource.subscribers.length > 0 || !dataSource.hasMetadata(target))
      return undefined;
    const metadata = dataSource.getMetadata(target);
    if (!this.isGroupable(metadata) || !isPlain(metadata, row)) return undefined;
    return inStatementSpan(dataSource, 'INSERT', () => this.inNextGroup(metadata, row));
  }

  private isGroupable(metadata: EntityMetadata): boolean {
    let groupable = this.groupable.get(metadata);
    if (groupable === undefined) {
      // Where ids are computed, the triggers of a table are looked for by its name: it must be one of the file itself.
      const isFound = this.dialect.insertedCount === undefined || metadata.tablePath === metadata.tableName;
      groupable = isFound && hasPlainTable(metadata) && !metadata.tableName.includes('.');
      this.groupable.set(metadata, groupable);
    }
    return groupable;
  }

  private get dialect(): Dialect {
    return (this.database.dataSource as Database).dialect;
  }

  private inNextGroup(metadata: EntityMetadata, row: ObjectLiteral): Promise<InsertResult> {
    const { leftMs, end } = this.waits.begin();
    const inserted = new Promise<InsertResult>((resolve, reject) => {
      const rows = this.waiting.get(metadata) ?? [];
      this.waiting.set(metadata, rows);
      rows.push({ row, resolve, reject, leftMs });
      if (this.isWriting) return;
      this.isWriting = true;
      // Whatever else has arrived by now is read before the first commit begins.
      outsideOfSpans(() => setImmediate(() => void this.writeAll()));
    });
    return inserted.finally(end);
  }

  private async writeAll(): Promise<void> {
    for (let group = this.nextGroup(); group; group = this.nextGroup()) await this.write(...inTime(...group));
    this.isWriting = false;
  }

  private nextGroup(): [EntityMetadata, Waiting[]] | undefined {
    const next = this.waiting.first();
    if (!next) return undefined;
    const [metadata, rows] = next;
    const group = rows.splice(0, Math.min(MOST_ROWS, Math.floor(MOST_VALUES / metadata.columns.length)));
    // To the end of the queue: no entity waits for another whose rows keep coming.
    this.waiting.delete(metadata);
    if (rows.length > 0) this.waiting.set(metadata, rows);
    return [metadata, group];
  }

  private takeAll(): Waiting[] {
    const all = this.waiting.all().flatMap(([, rows]) => rows);
    this.waiting.clear();
    return all;
  }

  /** Never throws: each row's promise is settled by its own outcome. */
  private async write(metadata: EntityMetadata, group: readonly Waiting[]): Promise<void> {
    if (group.length === 0) return;
    try {
      // None of the requests may wait longer for being in a group.
      const leftMs = Math.min(...group.map((waiting) => waiting.leftMs()));
      const results = await this.waits.within(leftMs, () => this.commit(metadata, group));
      // A turn later: the next group is on its way to the disk before this one's answers are written.
      setImmediate(() => {
        for (const [index, result] of results.entries()) group[index]?.resolve(result);
      });
    } catch (error) {
      // If the commit failed, the INSERT before it has set ids on the rows.
      for (const { row } of group)
        for (const column of metadata.generatedColumns) column.setEntityValue(row, undefined);
      // A database that is busy refuses them all, and those behind them, who would wait as long again each; anything else may
      // be the fault of one.
      if (error instanceof ApiError) for (const { reject } of [...group, ...this.takeAll()]) reject(error);
      else if (group.length === 1) group[0]?.reject(error);
      else for (const one of group) await this.write(metadata, [one]);
    }
  }

  private commit(metadata: EntityMetadata, group: readonly Waiting[]): Promise<InsertResult[]> {
    const { target, tableName } = metadata;
    const { insertedCount } = this.dialect;
    const rows = group.map(({ row }) => row);
    const changes: CachedKind[] = [...kindsWithNewRow(target)];
    return commitChanging(this.database, changes, async (manager) => {
      const doesMore = await this.doesMore(tableName, manager);
      if (doesMore) changes.push('rows');
      // Only the last id is told, and others may have come between the ids of these.
      if (doesMore && insertedCount !== undefined && metadata.generatedColumns.length > 0)
        return insertOneByOne(manager, target, rows, insertedCount);
      return insertTogether(manager, target, rows);
    });
  }

  /** Whether an insert may do more than insert. Found out again after commits that may have changed that. */
  private async doesMore(tableName: string, manager: EntityManager): Promise<boolean> {
    const { dataVersion } = this.database;
    const { insertsDoMore } = this.dialect;
    if (insertsDoMore === undefined) return true;
    const version = dataVersion.current('rows');
    const known = this.doingMore.get(tableName);
    if (known && version !== undefined && known.version === version) return known.isMore;
    const isMore = (await manager.query<unknown[]>(insertsDoMore, [tableName])).length > 0;
    this.doingMore.set(tableName, { version, isMore });
    return isMore;
  }
}

/** The rows of a group whose requests may still wait; refuses the others, before they delay or shorten anything. */
function inTime(metadata: EntityMetadata, group: readonly Waiting[]): [EntityMetadata, Waiting[]] {
  const late = new Set(group.filter(({ leftMs }) => leftMs() < LEAST_MS));
  for (const { reject } of late)
    reject(unavailable('the database is busy', new Error('a row has waited for as long as it may'), true));
  return [metadata, group.filter((waiting) => !late.has(waiting))];
}

/**
 * Whether nothing but the row's own values and a generated key is stored of a row, and nothing else happens: no listener runs
 * and TypeORM reads no column back, which it does for a whole INSERT in an order that the database chooses.
 */
function hasPlainTable(metadata: EntityMetadata): boolean {
  return (
    metadata.tableType === 'regular' &&
    metadata.inheritancePattern === undefined &&
    metadata.treeType === undefined &&
    metadata.beforeInsertListeners.length === 0 &&
    metadata.afterInsertListeners.length === 0 &&
    metadata.getInsertionReturningColumns().every(({ isGenerated }) => isGenerated)
  );
}

/**
 * Whether a row brings values, and no key that the database is to generate. SQLite reports only the id of an INSERT's last row;
 * earlier ones are computed, which fails if a row brings its own. A value that is an SQL expression may depend on the rows
 * before it.
 */
function isPlain(metadata: EntityMetadata, row: unknown): row is ObjectLiteral {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return false;
  return metadata.columns.every((column) => {
    const value: unknown = column.getEntityValue(row);
    return column.isGenerated ? value === undefined : typeof value !== 'function';
  });
}
