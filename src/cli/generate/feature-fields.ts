import { InvalidArgumentError } from 'commander';

/** A kind of field, as used by the templates (schematics/feature). */
interface FieldKind {
  readonly type: string;
  readonly column: string;
  readonly length?: number;
  readonly decorator: string;
  /** Options of the decorator in addition to the description. */
  readonly options: string;
  /** Two sample values, in TypeScript and in JSON (an int64 without its `n`). */
  readonly samples: readonly [string, string];
  readonly values?: readonly string[];
  /** The table that it references. */
  readonly references?: string;
}

/** A field of a feature. */
export interface Field extends FieldKind {
  /** Name of the property and of the JSON member, such as `petId`. */
  readonly property: string;
  /** Whether it can be omitted, which stores null. */
  readonly isOptional: boolean;
}

/** The syntax of a kind, and its parser, which returns an error message for other input. */
type Reader = readonly [form: string, read: (argument: string) => FieldKind | string];

const INT64 = { type: 'bigint', column: 'bigint', decorator: 'Int64', options: 'example: 1' } as const;
const DAY = '2026-11-20';
const INSTANT = `${DAY}T12:00:00.000Z`;
const TEXT_LENGTH = '255';
const MAX_TEXT_LENGTH = 10_000;

const KINDS: Readonly<Record<string, Reader>> = {
  text: ['text or text:<maximum length>', (argument) => textOf(argument || TEXT_LENGTH)],
  integer: plain('integer', {
    type: 'number',
    column: 'integer',
    decorator: 'Integer',
    options: 'example: 1, minimum: -2147483648, maximum: 2147483647',
    samples: ['1', '2'],
  }),
  int64: plain('int64', { ...INT64, samples: ['1', '2'] }),
  number: plain('number', {
    type: 'number',
    column: 'double precision',
    decorator: 'Double',
    options: 'example: 1.5',
    samples: ['1.5', '2.25'],
  }),
  boolean: plain('boolean', {
    type: 'boolean',
    column: 'boolean',
    decorator: 'Flag',
    options: 'example: true',
    samples: ['true', 'false'],
  }),
  'date-time': plain('date-time', {
    type: 'string',
    column: 'varchar',
    length: INSTANT.length,
    decorator: 'Instant',
    options: `example: '${INSTANT}'`,
    samples: [`'${INSTANT}'`, "'2026-11-21T12:00:00.000Z'"],
  }),
  date: plain('date', {
    type: 'string',
    column: 'varchar',
    length: DAY.length,
    decorator: 'CalendarDate',
    options: `example: '${DAY}'`,
    samples: [`'${DAY}'`, "'2026-11-21'"],
  }),
  enum: ['enum:<value>,<value>…', (argument) => enumOf(argument.split(','))],
  reference: [
    'reference:<table>',
    (references) =>
      /^[a-z]\w*$/.test(references)
        ? { ...INT64, references, samples: ['1', '2'] }
        : 'Name a table, which begins with a lower-case letter, followed by letters, digits and _.',
  ],
};

/** Parameters of every list. A filter cannot have the name of one. */
const OF_EVERY_LIST = new Set(['limit', 'cursor', 'sort']);

/** The syntax of each kind for `--field`, for its help and error messages. */
export const FIELD_FORMS = Object.values(KINDS)
  .map(([form]) => form)
  .join('; ');

/** Parses the values of `--field`. Throws InvalidArgumentError with all errors. */
export function parseFields(texts: readonly string[]): Field[] {
  const read = texts.map(parseField);
  const errors = read.flatMap((field, at) =>
    typeof field === 'string' ? [`--field ${texts[at]}: ${field}`] : [],
  );
  if (errors.length > 0) throw new InvalidArgumentError(errors.join('\n'));
  return read.filter((field) => typeof field !== 'string');
}

/** Parses `name:kind` or `name:kind:argument`, with a trailing `?` for an optional field; returns a message if it is invalid. */
function parseField(text: string): Field | string {
  const [, property = '', name = '', argument = '', optional] =
    /^([a-z][a-zA-Z0-9]*):([a-z][a-z0-9-]*)(?::([^?]*))?(\?)?$/.exec(text) ?? [];
  const reader = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  if (!reader)
    return `Give a name in camelCase, a colon and a kind: ${FIELD_FORMS}; and ? at the end if it is optional.`;
  const [form, read] = reader;
  const kind = read(argument);
  if (typeof kind === 'string') return `${kind} Write ${property} as ${property}:${form}.`;
  const isFilter = kind.values !== undefined || kind.references !== undefined;
  if (property in {} || property === 'then' || (isFilter && OF_EVERY_LIST.has(property)))
    return `A field cannot be named ${property}. Choose another name.`;
  return { ...kind, property, isOptional: optional !== undefined };
}

function plain(form: string, kind: FieldKind): Reader {
  return [form, (argument) => (argument === '' ? kind : `${form} takes no argument.`)];
}

function textOf(maxLength: string): FieldKind | string {
  const length = /^[1-9]\d*$/.test(maxLength) ? Number(maxLength) : Infinity;
  if (length > MAX_TEXT_LENGTH)
    return `The maximum length is a whole number from 1 to ${MAX_TEXT_LENGTH}, not ${maxLength}.`;
  const sample = (text: string) => `'${text.slice(0, length).trim()}'`;
  const samples = [sample('Some text'), sample('Another text')] as const;
  const options = `example: ${samples[0]}, maxLength: ${length}`;
  return { type: 'string', column: 'varchar', length, decorator: 'Text', options, samples };
}

/** An enumeration of at least two different lower-case values. Templates name its type after the feature. */
function enumOf(values: readonly string[]): FieldKind | string {
  const [one = '', other = ''] = values.map((value) => `'${value}'`);
  if (values.length < 2) return 'Give at least two values.';
  const wrong = values.filter((value) => !/^[a-z][a-z0-9_]*$/.test(value));
  if (wrong.length > 0)
    return `A value begins with a lower-case letter, followed by lower-case letters, digits and _, unlike ${wrong.map((value) => `"${value}"`).join(', ')}.`;
  const twice = values.find((value, at) => values.indexOf(value) < at);
  if (twice !== undefined) return `The value ${twice} is given twice.`;
  const length = Math.max(...values.map((value) => value.length));
  return {
    type: 'string',
    column: 'varchar',
    length,
    decorator: 'Enum',
    options: '',
    values,
    samples: [one, other],
  };
}
