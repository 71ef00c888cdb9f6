import { parse, stringify } from 'lossless-json';

/** Maximum levels of nested arrays and objects, because later code is recursive. */
export const MOST_LEVELS = 64;
/** The rest of a string after its first quote; of one that is not closed, the rest of the text. */
const STRING = /[^"\\]*(?:\\[^][^"\\]*)*"?/y;
/** Found in every text with a number that JSON.parse may change: more than 15 digits, a fraction, or an exponent. */
const INEXACT = /\d{16}|\d[.eE]/;
/** Maximum characters of a number: making a `bigint` of 100,000 digits takes 8 ms. RFC 8259 section 9 allows a limit. */
export const LONGEST_NUMBER = 1_000;

/** A number written with a fraction or an exponent, as text: `1.0` is not an integer. ValidationPipe hands handlers plain numbers. */
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
 * Parses JSON (RFC 8259) without changing a number: integers that a double cannot hold become `bigint`, numbers with a
 * fraction or an exponent `JsonDecimal`, everything else is as JSON.parse has it. Throws SyntaxError for anything but one
 * JSON document, for a duplicate member, and beyond MOST_LEVELS and LONGEST_NUMBER.
 */
export function parseExactJson(text: string): unknown {
  const named = membersNamed(text);
  const plain = INEXACT.test(text) ? undefined : plainly(text);
  if (plain !== undefined && membersOf(plain) === named) return plain;
  const value = parse(text, undefined, exactNumber);
  // The parser accepts some duplicate members.
  if (membersOf(value) < named) throw new SyntaxError('it has a duplicate member, or one named __proto__');
  return value;
}

/** By JSON.parse, which reads a long text in a twentieth of the time; undefined where the exact parser has a fault to name. */
function plainly(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Writes JSON with `bigint` as a JSON integer. */
export function writeExactJson(value: unknown): string {
  return stringify(value) ?? 'null';
}

/** The number of members in a JSON text. Throws SyntaxError beyond MOST_LEVELS: the parser is recursive. */
function membersNamed(text: string): number {
  let members = 0;
  let level = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      STRING.lastIndex = at + 1;
      STRING.test(text);
      at = STRING.lastIndex - 1;
    } else if (character === ':') members += 1;
    else if (character === '}' || character === ']') level -= 1;
    else if (character === '{' || character === '[') level += 1;
    if (level > MOST_LEVELS) throw new SyntaxError(`it is nested deeper than ${MOST_LEVELS} levels`);
  }
  return members;
}

/** The number of members of the objects in a parsed value. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null || value instanceof JsonDecimal) return 0;
  let members = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const part of Object.values(value)) members += membersOf(part);
  return members;
}

function exactNumber(text: string): number | bigint | JsonDecimal {
  if (text.length > LONGEST_NUMBER)
    throw new SyntaxError(`a number in it has more than ${LONGEST_NUMBER} characters`);
  if (/[.eE]/.test(text)) return new JsonDecimal(text);
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

/** Replaces every JsonDecimal by a plain number, in place, in arrays, objects and instances; returns the value. */
export function plainNumbers(value: unknown): unknown {
  if (value instanceof JsonDecimal) return value.valueOf();
  if (typeof value !== 'object' || value === null) return value;
  const pending: object[] = [value];
  // A transformation of an added module may have made a circular structure.
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
      if (!seen.has(member)) pending.push(member);
      seen.add(member);
    }
  }
  return value;
}
