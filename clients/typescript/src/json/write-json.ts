import { int64Digits } from '../int64.js';
import { type Shape, type Shapes, isInt64, shapeOfField, shapeOfItems } from './shape.js';

/**
 * Writes a value as JSON, as JSON.stringify does, with every integer of 64 bits by its digits. Throws a TypeError that names the field
 * for a declared integer that is none, for an infinite number, and for a circle.
 */
export function writeJson(value: unknown, shape: Shape | undefined, shapes: Shapes): string {
  return written(value, { shape, shapes, field: '', within: [] }) ?? 'null';
}

interface Place {
  readonly shape: Shape | undefined;
  readonly shapes: Shapes;
  /** Such as `pets[2].categoryId`; empty for the whole. */
  readonly field: string;
  /** The objects that the value is in. */
  readonly within: readonly object[];
}

/** The text of a value; undefined for what JSON leaves out. */
function written(value: unknown, place: Place): string | undefined {
  const name = place.field === '' ? 'The body' : place.field;
  if (isInt64(place.shape, place.shapes) && value !== null && value !== undefined)
    return int64Digits(value, name);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${name} must be finite.`);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (place.within.includes(value)) throw new TypeError(`${name} is a circle.`);
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return written((value.toJSON as () => unknown)(), { ...place, within: [...place.within, value] });
  const within = [...place.within, value];
  if (Array.isArray(value)) {
    const shape = shapeOfItems(place.shape, place.shapes);
    const items = Array.from(value, (one: unknown, at) =>
      written(one, { ...place, shape, within, field: `${place.field}[${at}]` }),
    );
    return `[${items.map((item) => item ?? 'null').join(',')}]`;
  }
  const members = Object.entries(value).flatMap(([key, member]: [string, unknown]) => {
    const shape = shapeOfField(place.shape, key, place.shapes);
    const field = place.field === '' ? key : `${place.field}.${key}`;
    const text = written(member, { ...place, shape, within, field });
    return text === undefined ? [] : [`${JSON.stringify(key)}:${text}`];
  });
  return `{${members.join(',')}}`;
}
