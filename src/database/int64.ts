import {
  Column,
  type ColumnOptions,
  PrimaryGeneratedColumn,
  type TableColumn,
  type ValueTransformer,
} from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';

/** Smallest int64, −2⁶³. */
export const INT64_MIN = -(2n ** 63n);
/** Largest int64, 2⁶³−1. */
export const INT64_MAX = 2n ** 63n - 1n;

/** Reads what a database returns for an int64 as a bigint. Throws rather than hand out a number that a double has rounded. */
export const int64Transformer: ValueTransformer = {
  to: (value: unknown) => value,
  from(value: unknown) {
    if (typeof value === 'string') return BigInt(value);
    if (typeof value === 'number') {
      if (!Number.isSafeInteger(value))
        throw new RangeError('An int64 was read as a double and may be rounded.');
      return BigInt(value);
    }
    return value;
  },
};

/** As int64Transformer, for a property that is a `number`, such as one that refers to a generated number. */
export const numberTransformer: ValueTransformer = {
  to: (value: unknown) => value,
  from(value: unknown) {
    const read = typeof value === 'string' ? Number(value) : value;
    if (typeof read === 'number' && !Number.isSafeInteger(read))
      throw new RangeError(`The int64 ${String(value)} is not exact as a number. Use @Int64Column().`);
    return read;
  },
};

/** A column that holds any int64 exactly; the property is a `bigint`. */
export function Int64Column(options: Omit<ColumnOptions, 'type' | 'transformer'> = {}): PropertyDecorator {
  return Column({ ...options, type: 'bigint', transformer: int64Transformer });
}

/**
 * A primary key that the database numbers; the property is a `bigint`. SQLite numbers only columns named
 * `integer`, which hold an int64 there.
 */
export function Int64Key(): PropertyDecorator {
  return PrimaryGeneratedColumn({ type: 'integer', transformer: int64Transformer } as object);
}

/** Whether nothing but these transforms a column: what it stores is the integer itself. */
export function storesInteger({ transformer }: ColumnMetadata): boolean {
  return transformer === int64Transformer || transformer === numberTransformer;
}

/** Types of columns that hold an integer, as entities and migrations name them. */
const INTEGERS = new Set<unknown>(['integer', 'int', Number]);

/** Whether the database numbers the rows by this column of an entity or a migration: SQLite's `integer` has 64 bits. */
export function isCounted(column: ColumnMetadata | TableColumn): boolean {
  return column.isGenerated && column.generationStrategy === 'increment' && INTEGERS.has(column.type);
}

/** Whether a column holds an int64; also with another transformer, which gets a text from PostgreSQL's driver, too. */
export function isInt64({ type, transformer }: ColumnMetadata): boolean {
  return type === 'bigint' || type === 'int8' || transformer === int64Transformer;
}
