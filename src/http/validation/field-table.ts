import { ValidationTypes, getMetadataStorage } from 'class-validator';
import type { ErrorDetail } from '../../core/errors/api-error.js';
import { plainNumbers } from '../../core/exact-json.js';
import { isMadeOfFields } from './class-transformer.js';
import { type Field, FieldRule, type SentAs } from './define-field.js';
import { INEXACT_NUMBER, inexactNumbers } from './free-json.js';

type Class = abstract new (...args: never[]) => unknown;

/** The fields that a class declares by decorators; they do not change once the class is defined. */
interface Fields {
  readonly names: ReadonlySet<string>;
  /** Names by their lower-case spelling. */
  readonly byLowerCase: ReadonlyMap<string, string>;
}

const fieldsKnown = new WeakMap<Class, Fields>();

function fieldsOf(metatype: Class): Fields {
  let fields = fieldsKnown.get(metatype);
  if (!fields) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(metatype, '', false, false);
    const names = new Set(rules.map(({ propertyName }) => propertyName));
    fields = { names, byLowerCase: new Map([...names].map((name) => [name.toLowerCase(), name])) };
    fieldsKnown.set(metatype, fields);
  }
  return fields;
}

/** The names of the fields that a class declares by decorators. */
export function declaredFieldsOf(metatype: Class): ReadonlySet<string> {
  return fieldsOf(metatype).names;
}

/** A field that has a value where a body does not send it: by its `default`, or by an initializer of its class. */
export function defaultedFieldOf(metatype: new () => object): string | undefined {
  const rules = getMetadataStorage().getTargetValidationMetadatas(metatype, '', false, false);
  const byDefault = rules.find(({ constraints }) => {
    const [rule] = (constraints ?? []) as unknown[];
    return rule instanceof FieldRule && rule.field?.fallback !== undefined;
  });
  const created = new metatype() as Readonly<Record<string, unknown>>;
  return (
    byDefault?.propertyName ?? [...declaredFieldsOf(metatype)].find((name) => created[name] !== undefined)
  );
}

/** Whether a class declares any field. */
export function isDto(metatype: Class): boolean {
  return fieldsOf(metatype).names.size > 0;
}

/**
 * Separates the fields of a body that its class declares from the others, each of which is a fault. It is done before
 * class-transformer runs, because that drops some names silently (`__proto__`, `constructor`) and throws on others.
 */
export function partKnownFields(body: object, metatype: Class): { declared: object; faults: ErrorDetail[] } {
  const { names } = fieldsOf(metatype);
  const unknown = Object.keys(body).filter((field) => !names.has(field));
  if (unknown.length === 0) return { declared: body, faults: [] };
  // Of a body with a million fields, few are read.
  const known = [...names].filter((field) => Object.hasOwn(body, field));
  const declared = Object.fromEntries(known.map((field) => [field, Reflect.get(body, field) as unknown]));
  const fault = unknownFieldOf(metatype);
  return { declared, faults: unknown.map((field) => ({ field, ...fault })) };
}

/** The error for a field that the class does not declare. */
export function unknownFieldOf(metatype: Class): Omit<ErrorDetail, 'field'> {
  const names = [...declaredFieldsOf(metatype)].join(', ');
  return { code: 'unknown_field', message: `This field is unknown. The known fields are ${names}.` };
}

/**
 * An error for every query parameter that is a misspelling of a declared one: in another case, or followed by brackets, as some clients
 * write lists. It would be ignored although the client relies on it. Other unknown parameters are ignored.
 */
export function misspelledParameters(query: object, metatype: Class): ErrorDetail[] {
  const { names, byLowerCase } = fieldsOf(metatype);
  const faults: ErrorDetail[] = [];
  for (const field of Object.keys(query)) {
    if (names.has(field)) continue;
    const end = field.indexOf('[');
    const intended = byLowerCase.get((end === -1 ? field : field.slice(0, end)).trim().toLowerCase());
    if (intended !== undefined)
      faults.push({
        field,
        code: 'misspelled_parameter',
        message: `This parameter is misspelled; write ${intended}.`,
      });
  }
  return faults;
}

type Condition = (object: object, value: unknown) => boolean;

/** One property of a class: how it is read, and the rules that it must keep when all conditions hold. */
interface Row {
  readonly name: string;
  /** Undefined for a property with rules alone, which is taken as it was sent. */
  readonly field: Field | undefined;
  readonly conditions: readonly Condition[];
  readonly rules: readonly FieldRule[];
}

/** The fields of `defineField()` and `Rule()` in a class, read as class-validator and class-transformer do, in a tenth of their time. */
export class FieldTable {
  private static readonly known = new WeakMap<object, { readonly table: FieldTable | undefined }>();

  /** The table of a class; undefined for a class with any other decorator of class-transformer or class-validator. */
  static of(metatype: new () => object): FieldTable | undefined {
    let known = FieldTable.known.get(metatype);
    if (!known) {
      const rows = isMadeOfFields(metatype) ? rowsOf(metatype) : undefined;
      known = { table: rows && new FieldTable(metatype, rows) };
      FieldTable.known.set(metatype, known);
    }
    return known.table;
  }

  private constructor(
    private readonly metatype: new () => object,
    private readonly rows: readonly Row[],
  ) {}

  /** Creates an instance of the class with the sent values and adds every error, in the order of the declarations, to `faults`. */
  read(sent: object, as: SentAs, faults: ErrorDetail[]): object {
    const object = new this.metatype() as Record<string, unknown>;
    for (const { name, field } of this.rows) {
      const value = Object.hasOwn(sent, name) ? (sent as Readonly<Record<string, unknown>>)[name] : undefined;
      // An absent property keeps what the class has initialized it with.
      if (value === undefined && field?.fallback === undefined) continue;
      object[name] = field ? field.read(value, as) : value;
    }
    const inexact = inexactNumbers(object, declaredFieldsOf);
    plainNumbers(object);
    for (const { name, conditions, rules } of this.rows) {
      const value = object[name];
      if (!conditions.every((condition) => condition(object, value))) continue;
      for (const { code, holds, message } of rules)
        // A promise, which is not awaited, does not count as true.
        if ((holds(value) as unknown) !== true) faults.push({ field: name, code, message: message(value) });
    }
    const [code, message] = INEXACT_NUMBER;
    faults.push(...inexact.map((field) => ({ field, code, message })));
    return object;
  }
}

function rowsOf(metatype: new () => object): Row[] | undefined {
  const storage = getMetadataStorage();
  const declared = storage.getTargetValidationMetadatas(metatype, '', false, false);
  const rows: Row[] = [];
  for (const [name, metadata] of Object.entries(storage.groupByPropertyName(declared))) {
    const conditions: Condition[] = [];
    const rules: FieldRule[] = [];
    for (const { type, constraints, validateIf } of metadata) {
      const [first] = (constraints ?? []) as unknown[];
      if (type === ValidationTypes.CONDITIONAL_VALIDATION) conditions.push(first as Condition);
      else if (first instanceof FieldRule && validateIf === undefined) rules.push(first);
      else return undefined;
    }
    rows.push({ name, field: rules.find(({ field }) => field !== undefined)?.field, conditions, rules });
  }
  return rows;
}
