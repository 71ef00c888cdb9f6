const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?$/;

/** Whether a text is a UUID, in small or capital letters. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Whether a text is a day that there is, such as 2026-11-22: there is no 31 February, and PostgreSQL has no year 0. */
export function isDay(text: string): boolean {
  if (!DAY.test(text) || text.startsWith('0000')) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** Whether a text is a time of day such as 08:30:00, to the microsecond at most. */
export function isTime(text: string): boolean {
  return TIME.test(text);
}

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** An instant or a time of day with all six digits of its fraction, as PostgreSQL holds them. */
export function toMicroseconds(text: string): string {
  const [whole = '', fraction = ''] = text.replace('T', ' ').replace('Z', '').split('.');
  return `${whole}.${fraction.padEnd(6, '0')}`;
}
