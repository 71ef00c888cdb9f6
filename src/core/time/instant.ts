/** The form of an instant: narrower than ISO 8601, which allows other offsets and any number of digits. */
export const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{3})?Z$/;

/** Reads an instant as ISO 8601 text in UTC, with or without milliseconds. Returns undefined for anything else. */
export function parseInstant(text: string): Date | undefined {
  const [, seconds] = INSTANT.exec(text) ?? [];
  const instant = new Date(text);
  if (seconds === undefined || Number.isNaN(instant.getTime())) return undefined;
  // Date takes 30 February for 2 March.
  return instant.toISOString().startsWith(seconds) ? instant : undefined;
}
