import { getMetadataStorage } from 'class-validator';
import type { FaultDetail } from '../errors/api-error.js';

type Class = abstract new (...args: never[]) => unknown;

/** What a class declares by decorators, which none of them changes later. */
interface Fields {
  readonly names: ReadonlySet<string>;
  /** The names by themselves in lower case. */
  readonly byLowerCase: ReadonlyMap<string, string>;
}

const known = new WeakMap<Class, Fields>();

function fieldsOf(metatype: Class): Fields {
  let fields = known.get(metatype);
  if (!fields) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(metatype, '', false, false);
    const names = new Set(rules.map(({ propertyName }) => propertyName));
    fields = { names, byLowerCase: new Map([...names].map((name) => [name.toLowerCase(), name])) };
    known.set(metatype, fields);
  }
  return fields;
}

/** Whether a class declares fields at all. */
export function isDto(metatype: Class): boolean {
  return fieldsOf(metatype).names.size > 0;
}

/**
 * Parts the fields of a body that its class declares from the others, and makes a fault of each of those. class-transformer
 * drops some names (`__proto__`, `constructor`) before its validator could see them, and trips over others.
 */
export function partKnownFields(body: object, metatype: Class): { declared: object; faults: FaultDetail[] } {
  const { names } = fieldsOf(metatype);
  const unknown = Object.keys(body).filter((field) => !names.has(field));
  if (unknown.length === 0) return { declared: body, faults: [] };
  const declared = Object.fromEntries(Object.entries(body).filter(([field]) => names.has(field)));
  const message = `This field is not known; known are ${[...names].join(', ')}.`;
  return { declared, faults: unknown.map((field) => ({ field, code: 'unknown_field', message })) };
}

/**
 * A fault for every parameter of a query that is a known one in another spelling: in another case, or with brackets behind
 * it, as some clients write lists. Whoever sends it believes that it works. Other unknown parameters are no faults.
 */
export function misspelledParameters(query: object, metatype: Class): FaultDetail[] {
  const { names, byLowerCase } = fieldsOf(metatype);
  const faults: FaultDetail[] = [];
  for (const field of Object.keys(query)) {
    if (names.has(field)) continue;
    const end = field.indexOf('[');
    const meant = byLowerCase.get((end === -1 ? field : field.slice(0, end)).trim().toLowerCase());
    if (meant !== undefined)
      faults.push({ field, code: 'misspelled_parameter', message: `This parameter is written ${meant}.` });
  }
  return faults;
}
