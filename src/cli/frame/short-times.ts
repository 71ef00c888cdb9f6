/** Units of time from the largest, in milliseconds. Calendar months and years have no fixed length, so days are the largest. */
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;
const SECOND = 1_000;

/** A length of time in milliseconds, rounded down to its largest unit: `3 min`, `45 s`, `400 d`. */
export function shortSpan(milliseconds: number): string {
  const [unit, length] = UNITS.find(([, of]) => milliseconds >= of) ?? (['s', SECOND] as const);
  return `${Math.floor(milliseconds / length)} ${unit}`;
}

/** How far an instant is from another one, in milliseconds since the epoch: `3 min ago`, `in 5 d`, `now` within a second. */
export function shortTime(instant: string, now: number): string {
  const away = Date.parse(instant) - now;
  if (Math.abs(away) < SECOND) return 'now';
  return away < 0 ? `${shortSpan(-away)} ago` : `in ${shortSpan(away)}`;
}
