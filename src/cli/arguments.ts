import { InvalidArgumentError, Option } from 'commander';
import { PLANS } from '../throttling/plans.js';

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const LONGEST_MS = 3_650 * UNITS.d;

/** Reads a duration such as `90d`, `12h`, `30m` or `45s` into milliseconds. */
export function duration(text: string): number {
  const [, amount, unit] = /^([1-9]\d{0,9})([smhd])$/.exec(text) ?? [];
  const milliseconds = Number(amount) * UNITS[(unit ?? 's') as keyof typeof UNITS];
  if (!(milliseconds <= LONGEST_MS))
    throw new InvalidArgumentError('Give a duration such as 90d, 12h or 30m, at most 3650d.');
  return milliseconds;
}

/** Reads a whole number of at least 1. */
export function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Give a whole number of at least 1.');
  return Number(text);
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
