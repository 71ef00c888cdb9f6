/** Durations, in milliseconds. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const UNITS = { s: 1_000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS } as const;
/** Ten years; anything longer should have no expiry. */
const MAX_MS = 3_650 * DAY_MS;

/** A regular expression for the durations that parseDuration() accepts, except 0. */
export const DURATION_PATTERN = Object.entries(UNITS)
  .map(([unit, ms]) => `(?:${upTo(String(MAX_MS / ms))})${unit}`)
  .join('|');

/** A regular expression for the integers from 1 to a bound of several digits. */
function upTo(bound: string): string {
  const ofItsLength = Array.from(bound).flatMap((digit, at) => {
    const [min, max] = [at === 0 ? 1 : 0, Number(digit) - 1];
    return min > max ? [] : `${bound.slice(0, at)}[${min}-${max}]\\d{${bound.length - at - 1}}`;
  });
  return [`[1-9]\\d{0,${bound.length - 2}}`, ...ofItsLength, bound].join('|');
}

/** Forms that parseDuration accepts, to complete "Give …". */
export const DURATION_FORM = 'a duration such as 90d, 12h, 30m or 45s, at most 3650d';

/**
 * Parses a duration such as `90d`, `12h`, `30m` or `45s`, or `0`, into milliseconds: the format of all durations on the command line and in
 * JSON. Undefined if it is invalid.
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const [, amount, unit] = /^([1-9]\d{0,9})([smhd])$/.exec(text) ?? [];
  const milliseconds = Number(amount) * UNITS[(unit ?? 's') as keyof typeof UNITS];
  return milliseconds <= MAX_MS ? milliseconds : undefined;
}
