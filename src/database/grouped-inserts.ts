import { Injectable } from '@nestjs/common';
import { DataSource, type EntityTarget, type ObjectLiteral } from 'typeorm';
import { ApiError } from '../errors/api-error.js';
import { commitChanging } from './cache-neutral-writes.js';
import { DataVersion } from './data-version.js';
import { Transactions } from './transactions.js';

/** Rows of one INSERT at most; PostgreSQL takes 65,535 values, SQLite 32,766. */
const MOST_ROWS = 500;

interface Waiting {
  readonly row: ObjectLiteral;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Commits rows together that concurrent requests insert: while one commit is written to disk the next rows gather, and a
 * disk that is waited for once then serves them all. Each row still succeeds or fails by itself.
 */
@Injectable()
export class GroupedInserts {
  private readonly waiting = new Map<EntityTarget<ObjectLiteral>, Waiting[]>();
  private isWriting = false;

  constructor(
    readonly dataSource: DataSource,
    readonly dataVersion: DataVersion,
    readonly transactions: Transactions,
  ) {}

  /**
   * Inserts a row and resolves once it is committed, or within the transaction that the caller takes part in; what the
   * database generates is then set on the row.
   */
  async insert<T extends ObjectLiteral>(entity: EntityTarget<T>, row: T): Promise<void> {
    // SQLite tells the id of the last row alone; those before are counted back, which a chosen id would belie.
    if (this.transactions.isInside() || this.hasChosenId(entity, row))
      await this.dataSource.manager.insert(entity, row);
    else await this.inNextGroup(entity, row);
  }

  private hasChosenId<T extends ObjectLiteral>(entity: EntityTarget<T>, row: T): boolean {
    const { generatedColumns } = this.dataSource.getMetadata(entity);
    return generatedColumns.some((column) => column.getEntityValue(row) !== undefined);
  }

  private inNextGroup(entity: EntityTarget<ObjectLiteral>, row: ObjectLiteral): Promise<void> {
    return new Promise((resolve, reject) => {
      const rows = this.waiting.get(entity) ?? [];
      this.waiting.set(entity, rows);
      rows.push({ row, resolve, reject });
      if (this.isWriting) return;
      this.isWriting = true;
      // Whatever else has arrived by now is read before the first commit begins.
      setImmediate(() => void this.writeAll());
    });
  }

  private async writeAll(): Promise<void> {
    for (let group = this.nextGroup(); group; group = this.nextGroup()) await this.write(...group);
    this.isWriting = false;
  }

  private nextGroup(): [EntityTarget<ObjectLiteral>, Waiting[]] | undefined {
    for (const [entity, rows] of this.waiting) {
      const group = rows.splice(0, MOST_ROWS);
      // To the end: no entity waits for another that never runs dry.
      this.waiting.delete(entity);
      if (rows.length > 0) this.waiting.set(entity, rows);
      return [entity, group];
    }
    return undefined;
  }

  private takeAll(): Waiting[] {
    const all = [...this.waiting.values()].flat();
    this.waiting.clear();
    return all;
  }

  /** Never throws: every row is told its own outcome. */
  private async write(entity: EntityTarget<ObjectLiteral>, group: readonly Waiting[]): Promise<void> {
    try {
      await this.commit(entity, group);
      // A turn later: the next group is on its way to the disk before this one's answers are written.
      setImmediate(() => {
        for (const { resolve } of group) resolve();
      });
    } catch (error) {
      // A database that is busy refuses them all, and those behind them, who would wait as long again each; anything else may
      // be the fault of one.
      if (error instanceof ApiError) for (const { reject } of [...group, ...this.takeAll()]) reject(error);
      else if (group.length === 1) group[0]?.reject(error);
      else for (const one of group) await this.write(entity, [one]);
    }
  }

  /** A new row changes none that is there, so that no cached key need be read again. */
  private async commit(entity: EntityTarget<ObjectLiteral>, group: readonly Waiting[]): Promise<void> {
    const rows = group.map(({ row }) => row);
    await commitChanging(this, ['responses'], (manager) => manager.insert(entity, rows));
  }
}
