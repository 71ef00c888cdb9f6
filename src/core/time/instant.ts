/** The format of a timestamp: stricter than ISO 8601, which allows other offsets and any number of digits. */
export const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{3})?Z$/;

/** Parses a timestamp as ISO 8601 text in UTC, with or without milliseconds. Undefined if it is invalid. */
export function parseInstant(text: string): Date | undefined {
  const [, seconds] = INSTANT.exec(text) ?? [];
  const instant = new Date(text);
  if (seconds === undefined || Number.isNaN(instant.getTime())) return undefined;
  // Date parses 30 February as 2 March.
  return instant.toISOString().startsWith(seconds) ? instant : undefined;
}
