import { getMetadataStorage } from 'class-validator';
import type { FaultDetail } from '../../core/errors/api-error.js';

type Class = abstract new (...args: never[]) => unknown;

/** The fields that a class declares by decorators; they do not change once the class is defined. */
interface Fields {
  readonly names: ReadonlySet<string>;
  /** Names by their lower-case spelling. */
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

/** The names of the fields that a class declares by decorators. */
export function declaredFieldsOf(metatype: Class): ReadonlySet<string> {
  return fieldsOf(metatype).names;
}

/** Whether a class declares any field. */
export function isDto(metatype: Class): boolean {
  return fieldsOf(metatype).names.size > 0;
}

/**
 * Separates the fields of a body that its class declares from the others, each of which is a fault. It is done before
 * class-transformer runs, because that drops some names silently (`__proto__`, `constructor`) and throws on others.
 */
export function partKnownFields(body: object, metatype: Class): { declared: object; faults: FaultDetail[] } {
  const { names } = fieldsOf(metatype);
  const unknown = Object.keys(body).filter((field) => !names.has(field));
  if (unknown.length === 0) return { declared: body, faults: [] };
  const declared = Object.fromEntries(Object.entries(body).filter(([field]) => names.has(field)));
  const message = `This field is unknown; the known fields are ${[...names].join(', ')}.`;
  return { declared, faults: unknown.map((field) => ({ field, code: 'unknown_field', message })) };
}

/**
 * A fault for every query parameter that is a declared one in another spelling: in another case, or followed by brackets, as
 * some clients write lists. It would be ignored, although the client relies on it. Other unknown parameters are ignored.
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
