/** Units of time from the largest, in milliseconds. Calendar months and years have no fixed length, so days are the largest. */
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;
const SECOND = 1_000;

/** Formats a duration in milliseconds, rounded down to its largest unit: `3 min`, `45 s`, `400 d`. */
export function shortSpan(milliseconds: number): string {
  const [unit, length] = UNITS.find(([, of]) => milliseconds >= of) ?? (['s', SECOND] as const);
  return `${Math.floor(milliseconds / length)} ${unit}`;
}

/** Formats a timestamp relative to `now` (milliseconds since the Unix epoch): `3 min ago`, `in 5 d`, or `now` within a second. */
export function shortTime(instant: string, now: number): string {
  const difference = Date.parse(instant) - now;
  if (Math.abs(difference) < SECOND) return 'now';
  return difference < 0 ? `${shortSpan(-difference)} ago` : `in ${shortSpan(difference)}`;
}
