import { Injectable } from '@nestjs/common';
import { DataSource, type EntityTarget, type ObjectLiteral } from 'typeorm';
import type { ForeignKeyMetadata } from 'typeorm/metadata/ForeignKeyMetadata.js';
import { ApiError, type ErrorDetail } from '../core/errors/api-error.js';
import { HTTP_ERRORS } from '../core/errors/http.errors.js';
import { isForeignKeyViolation } from './constraint-violations.js';
import { Transactions } from './transactions/transactions.js';

/**
 * Checks references to other rows (`@ForeignKey()` of TypeORM). A value in a body that refers to a missing row is an error in that value:
 * 400 `validation_failed` with the detail `unknown_reference`. 404 is reserved for the target of a request (RFC 9110 section 15.5.5).
 */
@Injectable()
export class References {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
  ) {}

  /**
   * Inserts or updates rows of an entity with `write` and returns its result. If a foreign key is violated, throws validation_failed with
   * an error for each dangling reference. The database checks the references, so concurrent deletes are covered and valid rows need no
   * lookup. With several rows, the errors contain the index of the row after its `path` in the body: `lines.1.petId`.
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
   * Throws validation_failed with an error for each dangling reference of the rows; null and undefined are allowed. A row may be deleted
   * right after the check, so prefer `write()` for rows to be written.
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
