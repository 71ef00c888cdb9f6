/** Longest text of one event, in UTF-16 code units. */
export const MAX_DATA_LENGTH = 65_536;

const INT64 = '$int64';
const DATE = '$date';

/**
 * The data of an event, as JSON from which `eventDataFrom()` makes the same: plain values, objects and arrays of them, `bigint` and
 * `Date`. Members that are undefined are left out. Throws TypeError for anything else, which would not come back as it was, and
 * RangeError when the text is longer than LONGEST_DATA.
 */
export function textOfEventData(data: object): string {
  const text = JSON.stringify(written(data, 'the event'));
  if (text.length > MAX_DATA_LENGTH)
    throw new RangeError(
      `A durable event of ${text.length} characters is too long; ${MAX_DATA_LENGTH} are allowed.`,
    );
  return text;
}

/** The value of a text of `textOfEventData()`. */
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

/** A name that begins with a dollar sign must not be taken for a mark. */
function escaped(name: string): string {
  return name.startsWith('$') ? `$${name}` : name;
}

/** Whether its own members are all that it has: so is an entity, but no Map, Buffer, Date or promise. */
function isRecord(value: object): boolean {
  return Object.prototype.toString.call(value) === '[object Object]' && !(value instanceof Error);
}
