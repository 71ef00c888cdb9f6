const DAY_MS = 86_400_000;

/** How long before the end of a key its owner is notified, shortest first. */
const NOTICES = [
  { name: '1d', ms: DAY_MS },
  { name: '7d', ms: 7 * DAY_MS },
] as const;

/** The longest of them, in milliseconds. */
export const LONGEST_NOTICE_MS = 7 * DAY_MS;

/** Creation and end of a key; instants are ISO 8601 text. */
export interface EndOfKey {
  readonly createdAt: string;
  readonly expiresAt: string;
  /** The end that it was issued with; null for none. */
  readonly issuedUntil: string | null;
}

/**
 * The notice that is due for a key; undefined for none. It is the shortest that has begun, so that there is one notice when the end is
 * brought forward. A key that was issued for a shorter time than the notice has none: its owner knows. `now` is in ms since the Unix epoch.
 */
export function dueNotice({ createdAt, expiresAt, issuedUntil }: EndOfKey, now: number): string | undefined {
  const end = Date.parse(expiresAt);
  if (end <= now) return undefined;
  const begun = NOTICES.find(({ ms }) => now >= end - ms);
  // Not the current end, which may have been brought forward without the user of the key knowing.
  const madeFor = issuedUntil === null ? Infinity : Date.parse(issuedUntil) - Date.parse(createdAt);
  return begun && madeFor > begun.ms ? begun.name : undefined;
}
