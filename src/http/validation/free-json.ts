import { compareNumber } from 'lossless-json';
import { JsonDecimal } from '../../core/exact-json.js';
import { isTransformed } from './class-transformer.js';
import { isAsSent } from './define-field.js';

type Class = abstract new (...args: never[]) => unknown;

/** Code and text of the fault of a number that a JSON column cannot hold as it was sent. */
export const INEXACT_NUMBER = [
  'inexact_number',
  `This number cannot be stored exactly. Send an integer of at most ${Number.MAX_SAFE_INTEGER}, a fraction, or a string.`,
] as const;

/** The types that the compiler emits for properties of which nothing is known. */
const FREE: ReadonlySet<unknown> = new Set([undefined, Object, Array]);

/**
 * The paths of the numbers that JSON in no field would lose: JSON.stringify(), by which databases are given it, throws on a `bigint`,
 * rounds integers and makes null of what is too large. Numbers that a class or a field describes are not among them; `fieldsOf` returns the
 * declared fields of a class.
 */
export function inexactNumbers(body: object, fieldsOf: (type: Class) => ReadonlySet<string>): string[] {
  const found: string[] = [];
  const search = (value: unknown, path: string, isFree: boolean): void => {
    if (typeof value === 'bigint' || value instanceof JsonDecimal) {
      if (isFree && !isPreserved(value)) found.push(path);
      return;
    }
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
    const prototype = Object.getPrototypeOf(value) as object | null;
    const isPlain = prototype === null || prototype === Object.prototype;
    for (const [name, member] of Object.entries(value)) {
      if (typeof member !== 'bigint' && typeof member !== 'object') continue;
      const at = path === '' ? name : `${path}.${name}`;
      if (Array.isArray(value)) search(member, at, isFree);
      else if (isPlain) search(member, at, true);
      else if (!fieldsOf(prototype.constructor as Class).has(name)) continue;
      // What a transformation makes is described by its author.
      else if (isTransformed(prototype.constructor, name)) {
        if (isAsSent(member)) search(member, at, true);
      } else search(member, at, FREE.has(Reflect.getMetadata('design:type', prototype, name)));
    }
  };
  search(body, '', false);
  return found;
}

function isPreserved(number: bigint | JsonDecimal): boolean {
  if (typeof number === 'bigint') return false;
  const double = Number(number.text);
  if (!Number.isInteger(double)) return Number.isFinite(double);
  return compareNumber(number.text, String(double)) === 0;
}
