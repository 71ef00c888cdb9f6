import { parse, stringify } from 'lossless-json';

const INTEGER = /^-?\d+$/;

/** Members written with a fraction or an exponent, by the object that holds them. */
const decimals = new WeakMap<object, Set<string>>();

/** A number written with a fraction or an exponent, on its way to becoming a plain number. */
class Decimal {
  constructor(readonly value: number) {}
}

/**
 * Parses JSON without changing a number: integers that a double cannot hold become `bigint`, everything else
 * is as JSON.parse has it. Throws SyntaxError for anything but one JSON document, for a member named twice,
 * and for nesting deeper than the stack.
 */
export function parseExactJson(text: string): unknown {
  try {
    return parse(text, unwrapDecimal, { parseNumber: parseExactNumber, onDuplicateKey: refuseDuplicate });
  } catch (error) {
    if (error instanceof RangeError) throw new SyntaxError('it is nested too deeply', { cause: error });
    throw error;
  }
}

/** Writes JSON with `bigint` as a JSON integer. */
export function writeExactJson(value: unknown): string {
  return stringify(value) ?? 'null';
}

/**
 * Whether a member of a parsed object was written as a JSON integer. `1.0` and `1e3` are not: OpenAPI 3.0
 * takes "integer" from JSON Schema draft 5, where it is a number without fraction or exponent part.
 */
export function isWrittenAsInteger(holder: object, member: string): boolean {
  return !decimals.get(holder)?.has(member);
}

function parseExactNumber(text: string): number | bigint | Decimal {
  const value = Number(text);
  if (!INTEGER.test(text)) return new Decimal(value);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

function unwrapDecimal(this: unknown, member: string, value: unknown): unknown {
  if (!(value instanceof Decimal)) return value;
  const holder = this as object;
  const members = decimals.get(holder) ?? new Set<string>();
  decimals.set(holder, members.add(member));
  return value.value;
}

function refuseDuplicate({ key }: { key: string }): never {
  throw new SyntaxError(`the member ${JSON.stringify(key)} stands in it twice`);
}
