import { InvalidArgumentError, Option } from 'commander';
import { DURATION_FORM, parseDuration } from '../duration.js';
import { PLANS } from '../throttling/plans.js';

/** Takes a duration such as `90d`, `12h`, `30m` or `45s`; answers it as written. */
export function duration(text: string): string {
  if ((parseDuration(text) ?? 0) > 0) return text;
  throw new InvalidArgumentError(`Give ${DURATION_FORM}.`);
}

/** Takes a duration, or `0`; answers it as written. */
export function durationOrZero(text: string): string {
  if (parseDuration(text) !== undefined) return text;
  throw new InvalidArgumentError(`Give ${DURATION_FORM}, or 0.`);
}

/** Reads a whole number of at least 1. */
export function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Give a whole number of at least 1.');
  return Number(text);
}

/** Reads a number of days that are kept. */
export function days(text: string): number {
  const value = positiveInteger(text);
  if (value > 90) throw new InvalidArgumentError('Give 1 to 90; that many days are kept.');
  return value;
}

/** Reads names separated by commas. */
export function names(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** `--plan`, one of the plans of the specification. */
export function planOption(): Option {
  return new Option('--plan <plan>', 'plan that sets the limits').choices(PLANS).makeOptionMandatory();
}

/** `--json`, which every command takes. */
export function jsonOption(): Option {
  return new Option('--json', 'print one JSON document on standard output and nothing else').default(false);
}

/** `--force`, of commands that may end the last key with the scope admin. */
export function forceOption(): Option {
  return new Option(
    '--force',
    'do it even if nothing is left that works with the scope admin over HTTP',
  ).default(false);
}

/** Shows how the command is called, below its help. */
export function examples(...calls: string[]): string {
  return `\nExamples:\n${calls.map((call) => `  petstore ${call}`).join('\n')}`;
}
