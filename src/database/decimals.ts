import type { Driver } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';

/** Types of columns that hold decimals. */
export const DECIMALS = new Set<unknown>(['decimal', 'numeric']);
/** Decimal digits that a double, SQLite's storage for decimals, preserves exactly. */
const MAX_DIGITS = 15;

/**
 * Makes both databases return decimals as the same text: with the declared scale, or without trailing zeros if none is declared. On SQLite,
 * which stores a double, values are rounded as in PostgreSQL, and values that a double would change are refused.
 */
export function readDecimalsAsText(driver: Driver): void {
  const isSqlite = driver.options.type === 'sqlite';
  const read = driver.prepareHydratedValue.bind(driver);
  driver.prepareHydratedValue = (value: unknown, column: ColumnMetadata): unknown =>
    read(DECIMALS.has(column.type) && isDecimal(value) ? textOf(value, scaleOf(column)) : value, column);
  if (!isSqlite) return;
  const write = driver.preparePersistentValue.bind(driver);
  driver.preparePersistentValue = (value: unknown, column: ColumnMetadata): unknown => {
    const written = write(value, column) as unknown;
    return DECIMALS.has(column.type) && isDecimal(written) ? storable(written, column) : written;
  };
}

function isDecimal(value: unknown): value is number | bigint | string {
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string';
}

/** With a precision alone, the scale is 0. */
function scaleOf({ precision, scale }: ColumnMetadata): number | undefined {
  return scale ?? (typeof precision === 'number' ? 0 : undefined);
}

function storable(value: number | bigint | string, column: ColumnMetadata): string {
  const { entityMetadata, propertyName, precision } = column;
  const refuse = (reason: string): never => {
    throw new RangeError(`${entityMetadata.name}.${propertyName} cannot be ${value}: ${reason}.`);
  };
  const scale = scaleOf(column);
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(String(value).trim()))
    return refuse('it is not a decimal');
  const text = textOf(value, scale);
  const [integer = '', fraction = ''] = text.replace('-', '').split('.');
  if (typeof precision === 'number' && integer.replace(/^0+/, '').length > precision - (scale ?? 0))
    return refuse(`it has more digits than decimal(${precision}, ${scale})`);
  const digits = `${integer}${fraction}`.replace(/^0+/, '').replace(/0+$/, '');
  if (digits.length > MAX_DIGITS)
    return refuse(
      `SQLite stores ${MAX_DIGITS} digits of a decimal. Use @Int64Column() for the smallest unit, or PostgreSQL`,
    );
  return text;
}

/** A decimal as plain text, rounded half away from zero to `scale` digits, if any. */
export function textOf(value: number | bigint | string, scale?: number): string {
  const [, sign = '', integer = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(String(value).trim()) ?? [];
  // PostgreSQL's NaN and Infinity.
  if (integer === '' && fraction === '') return String(value);
  const shift = Number(exponent);
  const all = `${integer}${fraction}`
    .padStart(-shift + fraction.length + 1, '0')
    .padEnd(integer.length + shift, '0');
  const point = all.length - Math.max(0, fraction.length - shift);
  const [whole, part] = [all.slice(0, point), all.slice(point)];
  const fractionDigits = scale ?? part.replace(/0+$/, '').length;
  const units =
    BigInt(`${whole}${part.slice(0, fractionDigits).padEnd(fractionDigits, '0')}`) +
    (Number(part[fractionDigits] ?? 0) >= 5 ? 1n : 0n);
  const digits = String(units).padStart(fractionDigits + 1, '0');
  const end = digits.length - fractionDigits;
  return `${sign === '-' && units !== 0n ? '-' : ''}${digits.slice(0, end)}${fractionDigits === 0 ? '' : `.${digits.slice(end)}`}`;
}
