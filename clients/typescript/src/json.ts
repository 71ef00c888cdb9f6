import { parse, stringify } from 'lossless-json';
import { SHAPES } from './generated/operations.js';
import type { Shape } from './operation.js';

/** The representation of 64-bit integers in responses. */
export type Int64Form = 'bigint' | 'string';
/** The type of 64-bit integers in responses, according to the chosen representation. */
export type Int64Of<Form extends Int64Form> = Form extends 'string' ? string : bigint;
/** The types accepted for a 64-bit integer in requests. A number must be a safe integer, and a string must consist of decimal digits. */
export type Int64Input = bigint | number | string;

const isWithinInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value;

/** Parses JSON without rounding integers. Throws for invalid JSON, and for a value whose type differs from the declared one. */
export function readJson(text: string, shapes: readonly Shape[], form: Int64Form): unknown {
  const exactOrDouble = (digits: string) => (/^-?\d+$/.test(digits) ? BigInt(digits) : Number(digits));
  return inForm(parse(text, undefined, exactOrDouble), resolved(shapes), form);
}

function inForm(value: unknown, shapes: readonly Shape[], form: Int64Form): unknown {
  if (value === null) return value;
  const isDeclared = shapes.includes('int64');
  const isOfShape = isDeclared
    ? typeof value === 'bigint' && isWithinInt64(value)
    : typeof value === 'object';
  if (shapes.length > 0 && !isOfShape && !shapes.includes('?')) throw new SyntaxError('not as declared');
  if (typeof value === 'bigint') {
    if (!isDeclared && Number.isSafeInteger(Number(value))) return Number(value);
    return form === 'string' ? String(value) : value;
  }
  if (typeof value !== 'object') return value;
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) members[name] = inForm(members[name], inside(shapes, name), form);
  // Not enumerable, because JSON.stringify() would throw for a bigint.
  if (Object.values(members).some((member) => typeof member === 'bigint'))
    Object.defineProperty(value, 'toJSON', { value: withDigits });
  return value;
}

function withDigits(this: object): unknown {
  const digits = (member: unknown) => (typeof member === 'bigint' ? String(member) : member);
  if (Array.isArray(this)) return this.map(digits);
  return Object.fromEntries(Object.entries(this).map(([name, member]) => [name, digits(member)]));
}

/** Serializes JSON with each bigint as an integer. */
export const writeJson = (value: unknown, shapes: readonly Shape[]): string =>
  stringify(withInt64(value, shapes)) ?? 'null';

/** A copy in which every declared 64-bit integer is a bigint. Throws a TypeError that names the field if one is not exact. */
export function withInt64(value: unknown, shapes: readonly Shape[], field = ''): unknown {
  const found = resolved(shapes);
  if (found.includes('int64') && value !== null && value !== undefined) return int64(value, field);
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${field} must be finite.`);
  if (typeof value !== 'object' || value === null) return value;
  if ('toJSON' in value && value.toJSON !== withDigits) return value;
  const copied = Object.entries(value).map(([name, member]): [string, unknown] => [
    name,
    withInt64(member, inside(found, name), field === '' ? name : `${field}.${name}`),
  ]);
  return Array.isArray(value) ? copied.map(([, member]) => member) : Object.fromEntries(copied);
}

function int64(value: unknown, field: string): bigint {
  const isExact =
    typeof value === 'bigint' ||
    (typeof value === 'number' && Number.isSafeInteger(value)) ||
    (typeof value === 'string' && /^-?(?:0|[1-9]\d{0,18})$/.test(value));
  if (isExact && isWithinInt64(BigInt(value))) return BigInt(value);
  throw new TypeError(
    `${field} must be an integer from -2^63 to 2^63-1: a bigint, its decimal digits as a string, or a number that is a safe integer.`,
  );
}

const inside = (shapes: readonly Shape[], name: string): readonly Shape[] =>
  resolved(
    shapes.flatMap((shape) => (typeof shape === 'string' ? [] : (own(shape, name) ?? own(shape, '*') ?? []))),
  );

/** The shapes with each schema name replaced by the shape of that schema. */
const resolved = (shapes: readonly Shape[]): readonly Shape[] =>
  shapes.flatMap((shape) =>
    typeof shape === 'string' && own(SHAPES, shape) ? resolved(SHAPES[shape] ?? []) : shape,
  );

/** An own member of an object; undefined for an inherited one, such as `constructor`. */
const own = <Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;
