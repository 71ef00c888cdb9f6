import { InvalidArgumentError, Option } from 'commander';
import { DURATION_FORM, parseDuration } from '../core/time/duration.js';

/** An option; `parse` reads its value and refuses one that is not allowed, `fallback` is its value when it is left out. */
export function option<T>(
  flags: string,
  description: string,
  parse?: (text: string, before?: T) => T,
  fallback?: T,
): Option {
  const made = new Option(flags, description).default(fallback);
  return parse ? made.argParser(parse) : made;
}

/** An option that cannot be left out. */
export function required(flags: string, description: string): Option {
  return new Option(flags, description).makeOptionMandatory();
}

/** An option that takes some of these values, separated by commas; they are known once all modules are imported. */
export class ListOption extends Option {
  constructor(
    flags: string,
    description: string,
    /** What may be given, for shells to complete; what is given is checked elsewhere. */
    readonly values: () => readonly string[],
    parse: (text: string) => unknown = names,
  ) {
    super(flags, description);
    this.argParser(parse);
  }
}

/** An option that may be given several times; its value is the list of what was given. */
export class RepeatableOption extends Option {
  constructor(flags: string, description: string, parse: (text: string) => unknown) {
    super(flags, description);
    this.argParser<readonly unknown[] | undefined>((text, before) => [...(before ?? []), parse(text)]);
  }
}

/** An option without a value; false unless it is given. */
export function flag(flags: string, description: string): Option {
  return new Option(flags, description).default(false);
}

/** `--days`, of commands that show the last days. */
export const DAYS = option('--days <days>', 'how many days to show, today among them; 1 to 90', days, 7);

/** `--wide`, of commands that show a list. */
export const WIDE = flag(
  '--wide',
  'show all columns, whole and with exact times, also where lines get too long',
);

/** Checks a duration such as `90d`, `12h`, `30m` or `45s`, and returns it as written. */
export function duration(text: string): string {
  if ((parseDuration(text) ?? 0) > 0) return text;
  throw new InvalidArgumentError(`Give ${DURATION_FORM}.`);
}

/** Checks a duration, or `0`, and returns it as written. */
export function durationOrZero(text: string): string {
  if (parseDuration(text) !== undefined) return text;
  throw new InvalidArgumentError(`Give ${DURATION_FORM}, or 0.`);
}

/** Reads an id as the service writes it: a UUID (RFC 9562 section 4) is the same in upper case. Anything else stays as it is. */
export function asId(text: string): string {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text) ? text.toLowerCase() : text;
}

/** Parses a whole number of at least 1. */
export function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Give a whole number of at least 1.');
  return Number(text);
}

/** Parses names separated by commas. */
export function names(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Parses a number of days, at most those that are kept. */
function days(text: string): number {
  const value = positiveInteger(text);
  if (value > 90) throw new InvalidArgumentError('Give 1 to 90; that many days are kept.');
  return value;
}
