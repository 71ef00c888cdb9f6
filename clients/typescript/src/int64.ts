/** How integers of 64 bits come out of the client. */
export type Int64Form = 'bigint' | 'string';

/** The type of an integer of 64 bits in answers, by the form that was chosen. */
export type Int64Of<Form extends Int64Form> = Form extends 'string' ? string : bigint;

/** What may be given for an integer of 64 bits: a number only if it is a safe integer, a text only in decimal digits. */
export type Int64Input = bigint | number | string;

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;
const DECIMAL = /^-?(?:0|[1-9]\d*)$/;
/** No integer of 64 bits has more digits; what is longer is not worth converting. */
const MOST_CHARACTERS = 20;

/** Whether an integer is within −2⁶³ to 2⁶³−1. */
export function isWithinInt64(value: bigint): boolean {
  return value >= LEAST && value <= MOST;
}

/** The digits of an integer of 64 bits. Throws a TypeError that names the field when it is none, or was rounded already. */
export function int64Digits(value: unknown, field: string): string {
  const exact = exactly(value);
  if (exact !== undefined && isWithinInt64(exact)) return exact.toString();
  throw new TypeError(
    `${field} must be an integer from -2^63 to 2^63-1: a bigint, its decimal digits as a string, or a number that is a safe integer.`,
  );
}

function exactly(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== 'string' || value.length > MOST_CHARACTERS || !DECIMAL.test(value)) return undefined;
  return BigInt(value);
}

/** Turns an exact integer into the form that was chosen. */
export function inForm<Form extends Int64Form>(value: bigint, form: Form): Int64Of<Form> {
  return (form === 'string' ? value.toString() : value) as Int64Of<Form>;
}
