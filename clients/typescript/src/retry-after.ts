/** The headers of a response. */
interface Headers {
  get(name: string): string | null;
}

/**
 * How long `Retry-After` asks to wait, in milliseconds: seconds, or an HTTP date, which is compared with the `Date` of the response
 * where that can be read, since clocks differ. Undefined without one, or for what is neither.
 */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (value === undefined) return undefined;
  if (/^\d{1,10}$/.test(value)) return Number(value) * 1_000;
  const instant = dateIn(value);
  if (instant === undefined) return undefined;
  return Math.max(0, instant - (dateIn(headers.get('date') ?? '') ?? now));
}

/** The instant of an HTTP date such as `Fri, 20 Nov 2026 12:00:00 GMT`; other texts that Date.parse takes are none. */
function dateIn(text: string): number | undefined {
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return undefined;
  const instant = Date.parse(text);
  return Number.isNaN(instant) ? undefined : instant;
}
