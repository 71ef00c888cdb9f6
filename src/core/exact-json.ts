import { parse, stringify } from 'lossless-json';
import { shortened } from './errors/api-error.js';

/** Maximum nesting depth of arrays and objects, because later code is recursive. */
export const MAX_LEVELS = 64;
/** Matches every text with a number that JSON.parse may change: more than 15 digits, a fraction, or an exponent. */
const INEXACT = /\d{16}|\d[.eE]/;
/** Maximum length of a number: parsing a `bigint` of 100,000 digits takes 8 ms. RFC 8259 section 9 allows a limit. */
export const MAX_NUMBER_LENGTH = 1_000;

/** A number with a fraction or exponent, as text, because `1.0` is not an integer. ValidationPipe passes plain numbers to handlers. */
export class JsonDecimal {
  constructor(readonly text: string) {}

  valueOf(): number {
    return Number(this.text);
  }

  toString(): string {
    return this.text;
  }

  toJSON(): number {
    return Number(this.text);
  }
}

/**
 * Parses JSON (RFC 8259) without changing numbers: integers that a double cannot hold become `bigint`, numbers with a fraction or exponent
 * `JsonDecimal`; otherwise like JSON.parse. Throws SyntaxError for invalid JSON, for a duplicate member or one named `__proto__`, and
 * beyond MAX_LEVELS or MAX_NUMBER_LENGTH.
 */
export function parseExactJson(text: string): unknown {
  const named = membersNamed(text);
  const plain = INEXACT.test(text) ? undefined : withPlainNumbers(text);
  const value = plain === undefined ? parse(text, undefined, EXACTLY) : plain;
  // Both parsers keep the last of duplicate members.
  if (membersOf(value) < named)
    throw new SyntaxError(`it has the member ${JSON.stringify(shortened(duplicateIn(text), 100))} twice`);
  return value;
}

/** Uses JSON.parse, which parses a long text in a twentieth of the time; undefined if the exact parser has to report an error. */
function withPlainNumbers(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Serializes JSON with `bigint` as a JSON integer. For a circular structure, throws a TypeError that names the property. */
export function writeExactJson(value: unknown, indent?: number): string {
  try {
    return stringify(value, refusingCircles(), indent) ?? 'null';
  } catch (error) {
    if (error instanceof RangeError) refuseCircle(value);
    throw error;
  }
}

/**
 * A replacer that throws a RangeError for a circular structure. Otherwise the recursion would serialize the cycle thousands of times before
 * the stack overflows, which takes seconds for large objects, such as the response of an HTTP client.
 */
function refusingCircles(): (this: unknown, name: string, member: unknown) => unknown {
  const holders: unknown[] = [];
  return function (_, member) {
    if (typeof member !== 'object' || member === null) return member;
    while (holders.length > 0 && holders.at(-1) !== this) holders.pop();
    if (holders.includes(member)) throw new RangeError('The value contains itself.');
    holders.push(member);
    return member;
  };
}

/** Throws a TypeError for a circular structure, such as an entity whose relation refers back to it. */
export function refuseCircle(value: unknown): void {
  const holders = new Map<object, string>();
  const done = new Set<object>();
  /** Each object with its remaining members, because the value may be too deep for recursion. */
  const path: { readonly holder: object; readonly left: [name: string, member: unknown][] }[] = [];
  const enter = (name: string, member: unknown): void => {
    if (typeof member !== 'object' || member === null || done.has(member)) return;
    const first = holders.get(member);
    if (first !== undefined)
      throw new TypeError(`A result cannot be written as JSON: ${name} refers back to ${first}.`);
    holders.set(member, name);
    path.push({ holder: member, left: Object.entries(member).toReversed() });
  };
  enter('the result', value);
  for (let at = path.at(-1); at; at = path.at(-1)) {
    const next = at.left.pop();
    if (next) enter(`${holders.get(at.holder)}.${next[0]}`, next[1]);
    else {
      path.pop();
      holders.delete(at.holder);
      done.add(at.holder);
    }
  }
}

/** The number of members in a JSON text. Throws SyntaxError beyond MAX_LEVELS, because the parser is recursive. */
function membersNamed(text: string): number {
  let members = 0;
  let level = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at + 1) - 1;
    else if (character === ':') members += 1;
    else if (character === '}' || character === ']') level -= 1;
    else if (character === '{' || character === '[') level += 1;
    if (level > MAX_LEVELS) throw new SyntaxError(`it is nested deeper than ${MAX_LEVELS} levels`);
  }
  return members;
}

/** The end of a string whose opening quote is before `from`; the end of the text if it is not closed. */
function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text[before - 1] === '\\') before -= 1;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** The first duplicate member name in an object of a JSON text. */
function duplicateIn(text: string): string {
  const objects: Set<string>[] = [];
  let string: [from: number, to: number] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      string = [at, endOfString(text, at + 1)];
      at = string[1] - 1;
    } else if (character === '{') objects.push(new Set());
    else if (character === '}') objects.pop();
    else if (character === ':') {
      const names = objects.at(-1);
      const name = JSON.parse(text.slice(...string)) as string;
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return '';
}

/** The number of members of the objects in a parsed value. Throws SyntaxError for one named `__proto__`, which later code may drop. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null || value instanceof JsonDecimal) return 0;
  if (Object.hasOwn(value, '__proto__')) throw new SyntaxError('it has a member named __proto__');
  let members = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const part of Object.values(value)) members += membersOf(part);
  return members;
}

const EXACTLY = {
  parseNumber: exactNumber,
  onDuplicateKey: ({ newValue }: { newValue: unknown }) => newValue,
};

function exactNumber(text: string): number | bigint | JsonDecimal {
  if (text.length > MAX_NUMBER_LENGTH)
    throw new SyntaxError(`a number in it has more than ${MAX_NUMBER_LENGTH} characters`);
  if (/[.eE]/.test(text)) return new JsonDecimal(text);
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

/** Whether an object has no class, like parsed JSON. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Replaces every JsonDecimal with a plain number, in place, in arrays, objects and instances; returns the value. `isOfJson` decides which
 * of its objects to descend into.
 */
export function plainNumbers(value: unknown, isOfJson: (member: object) => boolean = () => true): unknown {
  if (value instanceof JsonDecimal) return value.valueOf();
  if (typeof value !== 'object' || value === null) return value;
  const pending: object[] = [value];
  // A module's transformation may have created a circular structure.
  let seen: Set<object> | undefined;
  for (let holder = pending.pop(); holder; holder = pending.pop()) {
    if (ArrayBuffer.isView(holder)) continue;
    for (const name of Object.keys(holder)) {
      const member = (holder as Readonly<Record<string, unknown>>)[name];
      if (typeof member !== 'object' || member === null) continue;
      if (member instanceof JsonDecimal) {
        (holder as Record<string, unknown>)[name] = member.valueOf();
        continue;
      }
      seen ??= new Set([value]);
      if (!seen.has(member) && isOfJson(member)) pending.push(member);
      seen.add(member);
    }
  }
  return value;
}
