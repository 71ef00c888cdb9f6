import { parse, stringify } from 'lossless-json';

/** Most levels of nested arrays and objects: what walks through a value later is recursive. */
export const MOST_LEVELS = 64;
/** Most characters of a number: making a `bigint` of 100,000 digits takes 8 ms. RFC 8259 section 9 allows a limit. */
export const LONGEST_NUMBER = 1_000;
/** Most characters of a text whose fault is looked for. */
const LONGEST_EXPLAINED = 100_000;

/**
 * A number that was written with a fraction or an exponent, as text: `1.0` is not an integer, although the double 1 is.
 * Arithmetic takes it for its value. ValidationPipe hands handlers plain numbers.
 */
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
 * JSON document, for a member named twice, and beyond MOST_LEVELS and LONGEST_NUMBER.
 */
export function parseExactJson(text: string): unknown {
  const { members, kept, replaced } = scan(text);
  try {
    const root = [JSON.parse(replaced) as unknown];
    if (putBack(kept, root) === members) return root[0];
  } catch {
    // JSON.parse tells a position in the replaced text, if any.
  }
  throw faultIn(text);
}

/** What is wrong with a text. The parser that says where takes 20 times as long as JSON.parse. */
function faultIn(text: string): unknown {
  try {
    if (text.length <= LONGEST_EXPLAINED) parse(text);
  } catch (error) {
    return error;
  }
  return new SyntaxError('it is not one JSON document, or names a member twice');
}

/** Writes JSON with `bigint` as a JSON integer. */
export function writeExactJson(value: unknown): string {
  return stringify(value) ?? 'null';
}

/** A number that JSON.parse is left to read: exact as a double, and without a sign, which those that are kept have. */
const PLAIN_NUMBER = /^\d{1,15}$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const NUMBER_LIKE = /[-+.\deE]+/y;

/**
 * Reads a JSON text once: how many members it names, repeated ones too; the numbers that JSON.parse could change; and the text with
 * -1, -2, … in their places.
 */
function scan(text: string): { members: number; kept: Kept[]; replaced: string } {
  const kept: Kept[] = [];
  let replaced = '';
  let copied = 0;
  let members = 0;
  let level = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if (character === '"') at = endOfString(text, at);
    else if (character === ':') members += 1;
    else if (character === '}' || character === ']') level -= 1;
    else if (character === '{' || character === '[') level += 1;
    else if (character === '-' || (character >= '0' && character <= '9')) {
      NUMBER_LIKE.lastIndex = at;
      NUMBER_LIKE.test(text);
      const number = text.slice(at, NUMBER_LIKE.lastIndex);
      if (number.length > LONGEST_NUMBER)
        throw new SyntaxError(`a number in it has more than ${LONGEST_NUMBER} characters`);
      // JSON.parse refuses what is no number.
      if (!PLAIN_NUMBER.test(number) && NUMBER.test(number)) {
        replaced += `${text.slice(copied, at)}-${kept.push(exactNumber(number))}`;
        copied = at + number.length;
      }
      at += number.length - 1;
    }
    if (level > MOST_LEVELS) throw new SyntaxError(`it is nested deeper than ${MOST_LEVELS} levels`);
  }
  return { members, kept, replaced: replaced + text.slice(copied) };
}

/** Where the string that begins at `start` ends; the end of the text if it does not. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at += 1) {
    at = text.indexOf('"', at);
    if (at === -1) return text.length;
    let backslashes = 0;
    while (text[at - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
}

/** Puts the numbers that were kept into a parsed value; returns how many members its objects have. */
function putBack(kept: readonly Kept[], value: object): number {
  const holder = value as Record<string | number, unknown>;
  let members = 0;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    if (typeof key === 'string') members += 1;
    const member = holder[key];
    if (typeof member === 'number' && member < 0) holder[key] = kept[-member - 1];
    else if (typeof member === 'object' && member !== null) members += putBack(kept, member);
  }
  return members;
}

type Kept = number | bigint | JsonDecimal;

function exactNumber(text: string): Kept {
  if (/[.eE]/.test(text)) return new JsonDecimal(text);
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}
