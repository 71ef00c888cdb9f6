import { Column, type ColumnOptions, PrimaryGeneratedColumn, type ValueTransformer } from 'typeorm';
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

/** Whether a column holds an int64; also with another transformer, which gets a text from PostgreSQL's driver, too. */
export function isInt64({ type, transformer }: ColumnMetadata): boolean {
  return type === 'bigint' || type === 'int8' || transformer === int64Transformer;
}
