/** Maximum length of an event's data as text, in UTF-16 code units. */
export const MAX_DATA_LENGTH = 65_536;

const INT64 = '$int64';
const DATE = '$date';

/**
 * Serializes the data of an event as JSON that `eventDataFrom()` can restore: plain values, objects and arrays, `bigint` and `Date`.
 * Undefined members are omitted. Throws TypeError for anything else, which could not be restored, and RangeError if the text is longer than
 * MAX_DATA_LENGTH.
 */
export function textOfEventData(data: object): string {
  const text = JSON.stringify(written(data, 'the event'));
  if (text.length > MAX_DATA_LENGTH)
    throw new RangeError(
      `A durable event of ${text.length} characters is too long; ${MAX_DATA_LENGTH} are allowed.`,
    );
  return text;
}

/** Restores the data from a text of `textOfEventData()`. */
export function eventDataFrom(text: string): object {
  return read(JSON.parse(text)) as object;
}

function written(value: unknown, path: string): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)) return value;
  if (typeof value === 'bigint') return { [INT64]: value.toString() };
  if (value instanceof Date && Number.isFinite(value.getTime())) return { [DATE]: value.toISOString() };
  if (Array.isArray(value)) return value.map((one, index) => written(one, `${path}[${index}]`));
  if (typeof value !== 'object' || !isRecord(value)) throw new TypeError(`${path} cannot be stored as JSON.`);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    members.map(([name, member]) => [escaped(name), written(member, `${path}.${name}`)]),
  );
}

function read(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(read);
  const members = Object.entries(value);
  const [[name, text] = []] = members;
  if (members.length === 1 && name === INT64) return BigInt(text as string);
  if (members.length === 1 && name === DATE) return new Date(text as string);
  return Object.fromEntries(members.map(([key, member]) => [key.replace(/^\$\$/, '$'), read(member)]));
}

/** Escapes a name that starts with a dollar sign, which would be read as a marker. */
function escaped(name: string): string {
  return name.startsWith('$') ? `$${name}` : name;
}

/** Whether an object consists only of its own members: true for an entity, false for a Map, Buffer, Date or promise. */
function isRecord(value: object): boolean {
  return Object.prototype.toString.call(value) === '[object Object]' && !(value instanceof Error);
}
