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

/** Reads an int64 as a bigint. Throws for a number that may have been rounded to a double. */
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

/** As int64Transformer, for properties of type `number`, such as references to an auto-increment id. */
export const numberTransformer: ValueTransformer = {
  to: (value: unknown) => value,
  from(value: unknown) {
    const read = typeof value === 'string' ? Number(value) : value;
    if (typeof read === 'number' && !Number.isSafeInteger(read))
      throw new RangeError(
        `The int64 ${String(value)} cannot be represented exactly as a number. Use @Int64Column().`,
      );
    return read;
  },
};

/** A column that holds any int64 exactly; the property is a `bigint`. */
export function Int64Column(options: Omit<ColumnOptions, 'type' | 'transformer'> = {}): PropertyDecorator {
  return Column({ ...options, type: 'bigint', transformer: int64Transformer });
}

/** An auto-increment primary key; the property is a `bigint`. SQLite increments only columns of type `integer`, which hold an int64. */
export function Int64Key(): PropertyDecorator {
  return PrimaryGeneratedColumn({ type: 'integer', transformer: int64Transformer } as object);
}

/** Whether a column stores the integer itself: it has one of these transformers. */
export function storesInteger({ transformer }: ColumnMetadata): boolean {
  return transformer === int64Transformer || transformer === numberTransformer;
}

/** Names of integer types in entities and migrations. */
const INTEGERS = new Set<unknown>(['integer', 'int', Number]);

/** Whether a column of an entity or migration is auto-incremented; on SQLite, it has 64 bits. */
export function isAutoIncrement(column: ColumnMetadata | TableColumn): boolean {
  return column.isGenerated && column.generationStrategy === 'increment' && INTEGERS.has(column.type);
}

/** Whether a column holds an int64, with any transformer; PostgreSQL's driver returns it as text. */
export function isInt64({ type, transformer }: ColumnMetadata): boolean {
  return type === 'bigint' || type === 'int8' || transformer === int64Transformer;
}
