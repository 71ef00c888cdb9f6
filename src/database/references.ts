import { Injectable } from '@nestjs/common';
import { DataSource, type EntityTarget, type ObjectLiteral } from 'typeorm';
import type { ForeignKeyMetadata } from 'typeorm/metadata/ForeignKeyMetadata.js';
import { ApiError, type ErrorDetail } from '../core/errors/api-error.js';
import { HTTP_ERRORS } from '../core/errors/http.errors.js';
import { isForeignKeyViolation } from './constraint-violations.js';
import { Transactions } from './transactions/transactions.js';

/**
 * Checks references to other rows (`@ForeignKey()` of TypeORM). A value of a body that refers to a missing row
 * is a fault of that value: 400 `validation_failed` with the detail `unknown_reference`. 404 is for the target of a
 * request alone (RFC 9110 section 15.5.5).
 */
@Injectable()
export class References {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
  ) {}

  /**
   * Inserts or updates a row of an entity by `write`, and returns its result. When the database refuses the row because of a
   * foreign key, throws validation_failed with a fault for each property that refers to nothing. The database decides, so it does
   * not matter who deletes what at the same time, and a row that is right costs no look-up. Of several rows each fault has the
   * index of its row, after the `path` of the rows in the body: `lines.1.petId`.
   */
  async write<T>(
    entity: EntityTarget<ObjectLiteral>,
    rows: object | readonly object[],
    write: () => Promise<T>,
    path = '',
  ): Promise<T> {
    try {
      // A savepoint, so that all statements of `write` are undone together.
      return await (this.transactions.isInside() ? this.dataSource.transaction(write) : write());
    } catch (error) {
      if (isForeignKeyViolation(error)) await this.check(entity, rows, error, path);
      throw error;
    }
  }

  /**
   * Throws validation_failed with a fault for each property of the row or rows that refers to nothing. Properties that are null or left
   * out refer to nothing by intention. An existing row may be deleted the next moment: prefer `write()` where a row is written.
   */
  async check(
    entity: EntityTarget<ObjectLiteral>,
    rows: object | readonly object[],
    cause?: unknown,
    path = '',
  ): Promise<void> {
    const details: ErrorDetail[] = [];
    for (const [at, row] of Object.entries<object>(Array.isArray(rows) ? rows : { '': rows }))
      for (const key of this.dataSource.getMetadata(entity).foreignKeys)
        if (!(await this.exists(key, row))) details.push(...errorsOf(key, row, [path, at]));
    if (details.length > 0) throw new ApiError(HTTP_ERRORS.validation_failed, { details, cause });
  }

  private async exists(
    { columns, referencedColumns, ...key }: ForeignKeyMetadata,
    row: object,
  ): Promise<boolean> {
    const values = columns.map((column): unknown => column.getEntityValue(row));
    if (values.some((value) => value === null || value === undefined)) return true;
    const where = Object.fromEntries(
      referencedColumns.map(({ propertyName }, at) => [propertyName, values[at]]),
    );
    return this.dataSource.getRepository(key.referencedEntityMetadata.target).existsBy(where);
  }
}

function errorsOf({ columns }: ForeignKeyMetadata, row: object, parents: readonly string[]): ErrorDetail[] {
  return columns.map((column) => ({
    field: [...parents, column.propertyName].filter((name) => name !== '').join('.'),
    code: 'unknown_reference',
    message: `No resource has the id ${String(column.getEntityValue(row))}.`,
  }));
}
