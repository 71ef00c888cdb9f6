import { compareNumber } from 'lossless-json';
import { JsonDecimal } from '../../core/exact-json.js';
import { isTransformed } from './class-transformer.js';
import { isAsSent } from './define-field.js';

type Class = abstract new (...args: never[]) => unknown;

/** Code and message of the error for a number that a JSON column cannot store exactly. */
export const INEXACT_NUMBER = [
  'inexact_number',
  `This number cannot be stored exactly. Send an integer of at most ${Number.MAX_SAFE_INTEGER}, a fraction, or a string.`,
] as const;

/** Types that the compiler emits for properties of unknown type. */
const FREE: ReadonlySet<unknown> = new Set([undefined, Object, Array]);

/**
 * The paths of numbers in free-form JSON that would change: JSON.stringify(), with which databases store it, throws for a `bigint`, rounds
 * integers and turns too large numbers into null. Numbers described by a class or field are not included; `fieldsOf` returns the declared
 * fields of a class.
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
      // The author of a transformation describes its result.
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
