import { sampleTexts } from './field-words.js';

/** How a kind of field is stored, declared and shown. */
export interface FieldKind {
  /** Type of the property, in TypeScript. */
  readonly type: string;
  /** Type of the column, and its length. */
  readonly column: { readonly type: 'varchar' | 'bigint' | 'integer'; readonly length?: number };
  /** Decorator of the DTO's property (src/http/validation/fields.ts), and its options beside description and example. */
  readonly decorator: string;
  readonly options: Readonly<Record<string, number>>;
  /** The values of an enumeration. */
  readonly values?: readonly string[];
  /** Table whose key it holds. */
  readonly references?: string;
  /** Two values that it may have, as in JSON. */
  readonly samples: readonly [string | number, string | number];
}

/** How a kind is written behind the name of a field, and what that means; undefined when it is not of that form. */
interface KindReader {
  readonly form: string;
  readonly read: (argument: string, property: string) => FieldKind | undefined;
}

const LONGEST_TEXT = 10_000;
const VALUE = /^[a-z][a-z0-9_]*$/;
const REFERENCE = /^ref=([a-z][a-z0-9_]*)$/;
const BOUNDS = /^(-?\d{1,15})\.\.(-?\d{1,15})$/;

/** Every kind of field that `--field` takes, by its name. */
export const FIELD_KINDS: Readonly<Record<string, KindReader>> = {
  text: {
    form: 'text or text:<most characters>',
    read(argument, property) {
      const length = /^\d{1,5}$/.test(argument || '255') ? Number(argument || '255') : 0;
      if (length < 1 || length > LONGEST_TEXT) return undefined;
      return {
        type: 'string',
        column: { type: 'varchar', length },
        decorator: 'Text',
        options: { maxLength: length },
        samples: sampleTexts(property, length),
      };
    },
  },
  int64: {
    form: 'int64 or int64:ref=<table>',
    read(argument) {
      const [, references] = REFERENCE.exec(argument) ?? [];
      if (argument !== '' && references === undefined) return undefined;
      return {
        type: 'bigint',
        column: { type: 'bigint' },
        decorator: 'Int64',
        options: {},
        samples: [1, 2],
        ...(references === undefined ? {} : { references }),
      };
    },
  },
  integer: {
    form: 'integer:<least>..<most>',
    read(argument) {
      const [, least, most] = (BOUNDS.exec(argument) ?? []).map(Number);
      if (least === undefined || most === undefined || least >= most) return undefined;
      return {
        type: 'number',
        column: { type: most > 2_147_483_647 || least < -2_147_483_648 ? 'bigint' : 'integer' },
        decorator: 'Integer',
        options: { minimum: least, maximum: most },
        samples: [least, most],
      };
    },
  },
  enum: { form: 'enum:<value>,<value>…', read: (argument) => enumeration(argument.split(',')) },
  instant: {
    form: 'instant',
    read: (argument) =>
      argument === ''
        ? textOf('Instant', 24, ['2026-11-20T12:00:00.000Z', '2026-11-21T12:00:00.000Z'])
        : undefined,
  },
  uuid: {
    form: 'uuid',
    read: (argument) =>
      argument === ''
        ? textOf('Uuid', 36, ['6f1d7e9e-3d0c-4f0b-9d35-0c8f8a0d5a11', '0b54d8a3-6a7e-4a29-8a0e-5f6f1f2c7d22'])
        : undefined,
  },
};

/** A field that has one of these values, in lower case; undefined unless there are two at least, all different. */
export function enumeration(values: readonly string[]): FieldKind | undefined {
  const [first, second] = values;
  if (first === undefined || second === undefined || new Set(values).size < values.length) return undefined;
  if (!values.every((value) => VALUE.test(value))) return undefined;
  return {
    ...textOf('Enum', Math.max(...values.map((value) => value.length)), [first, second]),
    values,
  };
}

function textOf(decorator: string, length: number, samples: FieldKind['samples']): FieldKind {
  return { type: 'string', column: { type: 'varchar', length }, decorator, options: {}, samples };
}
