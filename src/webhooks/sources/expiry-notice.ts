const DAY_MS = 86_400_000;

/** How long before the end of a key this is told, the shortest first. */
const NOTICES = [
  { name: '1d', ms: DAY_MS },
  { name: '7d', ms: 7 * DAY_MS },
] as const;

/** The longest of them, in milliseconds. */
export const LONGEST_NOTICE_MS = 7 * DAY_MS;

/** When a key was made and ends; instants are ISO 8601 text. */
export interface EndOfKey {
  readonly createdAt: string;
  readonly expiresAt: string;
  /** The end that it was made with; null for none. */
  readonly issuedUntil: string | null;
}

/**
 * Which notice of a key's end is due; undefined for none. It is the shortest that has begun, so that a key whose end was brought
 * forward is told of once. A key that was made for no longer than the notice is not told of: whoever ordered it knows. `now` is in ms since the Unix epoch.
 */
export function dueNotice({ createdAt, expiresAt, issuedUntil }: EndOfKey, now: number): string | undefined {
  const end = Date.parse(expiresAt);
  if (end <= now) return undefined;
  const begun = NOTICES.find(({ ms }) => now >= end - ms);
  // Not its present end: that may have been brought forward, which whoever uses the key need not know.
  const madeFor = issuedUntil === null ? Infinity : Date.parse(issuedUntil) - Date.parse(createdAt);
  return begun && madeFor > begun.ms ? begun.name : undefined;
}
