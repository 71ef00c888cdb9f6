import { INT64_MAX, INT64_MIN } from '../../database/int64.js';
import { DURATION_FORM, DURATION_PATTERN, parseDuration } from '../../core/time/duration.js';
import { INSTANT, parseInstant } from '../../core/time/instant.js';
import { JsonDecimal } from '../../core/exact-json.js';
import { type FieldOptions, boundsError, defineField, valuesError } from './define-field.js';

/** The rules of text, as far as a regular expression can express them in all languages of generated clients. */
const PATTERN = '^[^\\x00]*[^\\s\\x00][^\\x00]*$';
const ACCEPTED = 'Must not be blank, or contain NUL or unpaired surrogates';
const VISIBLE = /[^\s\p{Cc}\p{Cf}]/u;

/**
 * Text of 1 to `maxLength` characters (code points), returned unchanged. It must not be blank, or contain NUL or half of a surrogate pair,
 * which databases and UTF-8 cannot represent.
 */
export function Text(options: FieldOptions<string> & { readonly maxLength: number }): PropertyDecorator {
  const { maxLength, ...others } = options;
  const fits = (text: string): boolean => lengthOf(text) <= maxLength;
  return defineField(
    {
      schema: { type: 'string', minLength: 1, maxLength, pattern: PATTERN },
      declares: ['@Text()', String],
      fault: boundsError(1, maxLength, 'maxLength'),
      code: 'not_a_string',
      mustBe: 'a string',
      parse: (sent) => (typeof sent === 'string' ? sent : undefined),
      rules: [
        ['blank', 'This must contain a visible character.', (text) => VISIBLE.test(text)],
        ['too_long', `This must have at most ${maxLength} characters.`, fits],
        ['forbidden_character', 'This must not contain NUL or half of a surrogate pair.', isCarriable],
      ],
    },
    { ...others, description: [others.description, ACCEPTED].filter(Boolean).join('. ') },
  );
}

function isText(sent: unknown, form: RegExp): sent is string {
  return typeof sent === 'string' && form.test(sent);
}

/** Length in code points, counted without allocating an array. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

const isCarriable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

const DECIMAL = /^-?(0|[1-9]\d*)$/;

/**
 * An exact 64-bit integer; the property is a `bigint`. In JSON, a number without fraction or exponent; in a path or query, decimal without
 * plus sign or leading zeros.
 */
export function Int64(options: FieldOptions<number> = {}): PropertyDecorator {
  return defineField(
    {
      schema: { type: 'integer', format: 'int64' },
      declares: ['@Int64()', BigInt],
      code: 'not_an_integer',
      mustBe: 'an integer',
      parse: (sent) => (isInteger(sent) ? BigInt(sent) : undefined),
      text: {
        mustBe: 'an integer in decimal',
        parse: (sent) => (isText(sent, DECIMAL) ? BigInt(sent) : undefined),
      },
      rules: [withinBounds(INT64_MIN, INT64_MAX)],
    },
    options,
  );
}

/** An integer within inclusive bounds, never clamped; the property is a `number`. */
export function Integer(
  options: FieldOptions<number> & { readonly minimum: number; readonly maximum: number },
): PropertyDecorator {
  const { minimum, maximum } = options;
  return defineField(
    {
      schema: { type: 'integer' },
      declares: ['@Integer()', Number],
      fault: boundsError(minimum, maximum),
      code: 'not_an_integer',
      mustBe: 'an integer',
      parse: (sent) => (isInteger(sent) ? sent : undefined),
      text: {
        mustBe: 'one integer in decimal, without sign or leading zeros',
        parse: (sent) => {
          if (!isText(sent, DECIMAL)) return undefined;
          return isInteger(Number(sent)) ? Number(sent) : BigInt(sent);
        },
      },
      rules: [withinBounds(minimum, maximum)],
    },
    options,
  );
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/**
 * A double (IEEE 754): excess digits are rounded, and a number that is too large is rejected. For exact amounts, such as cents, use
 * `@Int64()`. The property is a `number`, its column `double precision`.
 */
export function Double(
  options: FieldOptions<number> & { readonly minimum?: number; readonly maximum?: number } = {},
): PropertyDecorator {
  const { minimum, maximum, ...documented } = options;
  const read = (sent: unknown): number | undefined => doubleOf(sent);
  return defineField(
    {
      schema: { type: 'number', format: 'double', ...boundsOf(minimum, maximum) },
      declares: ['@Double()', Number],
      fault: boundsError(minimum ?? -Infinity, maximum ?? Infinity),
      code: 'not_a_number',
      mustBe: 'a number that a double can hold',
      parse: (sent) => (typeof sent === 'string' ? undefined : read(sent)),
      text: { parse: (sent) => (isText(sent, NUMBER) ? read(Number(sent)) : undefined) },
      rules: rangeOf(minimum, maximum),
    },
    documented,
  );
}

/** Without the sign of negative zero, which PostgreSQL would return and SQLite would not; undefined for an infinity or anything else. */
function doubleOf(sent: unknown): number | undefined {
  const isNumber = typeof sent === 'number' || typeof sent === 'bigint' || sent instanceof JsonDecimal;
  const value = isNumber ? Number(sent) : NaN;
  return Number.isFinite(value) ? value + 0 : undefined;
}

/**
 * An exact decimal as text, such as "12.50", of up to `precision` digits, `scale` of them after the point; without exponent, plus sign or
 * leading zeros. The property is the text as sent, its column `@Column('decimal', { precision, scale })`, which compares and sorts as
 * numbers. `JsonRows` does not support it, so use `keysetPage()` for lists.
 */
export function Decimal(
  options: FieldOptions<string> & {
    readonly precision: number;
    readonly scale: number;
    readonly minimum?: string;
    readonly maximum?: string;
  },
): PropertyDecorator {
  const { precision, scale, minimum, maximum, ...documented } = options;
  const whole = precision - scale;
  const form = new RegExp(
    `^-?${whole > 1 ? `(0|[1-9]\\d{0,${whole - 1}})` : whole === 1 ? '\\d' : '0'}${scale > 0 ? `(\\.\\d{1,${scale}})?` : ''}$`,
  );
  const range = rangeOf(minimum, maximum, (text) => unitsOf(text, scale));
  const [, inRange] = range[0] ?? [];
  return defineField(
    {
      schema: { type: 'string', format: 'decimal', pattern: form.source },
      declares: ['@Decimal()', String],
      fault: decimalError(options, form),
      code: 'not_a_decimal',
      mustBe: `a string with a decimal of at most ${whole > 0 ? whole : 'no'} digits before the point and ${scale > 0 ? scale : 'no'} after it`,
      parse: (sent) => (isText(sent, form) ? withoutNegativeZero(sent) : undefined),
      rules: range,
    },
    inRange === undefined
      ? documented
      : { ...documented, description: [documented.description, inRange].filter(Boolean).join('. ') },
  );
}

/** An existing calendar date, such as `2027-02-28`; the property and its column, `varchar(10)`, are that text. */
export function CalendarDate(
  options: FieldOptions<string> & { readonly minimum?: string; readonly maximum?: string } = {},
): PropertyDecorator {
  const { minimum, maximum, ...documented } = options;
  const wrong = [minimum, maximum].find((bound) => bound !== undefined && !isDate(bound));
  return defineField(
    {
      schema: { type: 'string', format: 'date', pattern: DATE.source },
      declares: ['@CalendarDate()', String],
      fault:
        wrong === undefined
          ? boundsError(minimum ?? '0000-01-01', maximum ?? '9999-12-31')
          : `its bound ${wrong} is not a date.`,
      code: 'not_a_date',
      mustBe: `a date such as ${A_DATE}`,
      parse: (sent) => (typeof sent === 'string' && isDate(sent) ? sent : undefined),
      rules: rangeOf(minimum, maximum),
    },
    { ...documented, example: documented.example ?? A_DATE },
  );
}

const DATE = /^\d{4}-\d\d-\d\d$/;
const A_DATE = '2026-11-20';

/** Date parses 29 February of other years as 1 March. */
function isDate(text: string): boolean {
  return DATE.test(text) && parseInstant(`${text}T00:00:00Z`) !== undefined;
}

/** The error in the digits or bounds of a decimal. */
function decimalError(
  { precision, scale, minimum, maximum }: Parameters<typeof Decimal>[0],
  form: RegExp,
): string | undefined {
  if (![precision, scale].every(Number.isInteger) || scale < 0 || precision < Math.max(1, scale))
    return `it has ${precision} digits, ${scale} of them after the point. Choose precision >= scale >= 0, and precision >= 1.`;
  const wrong = [minimum, maximum].find((bound) => bound !== undefined && !form.test(bound));
  if (wrong !== undefined) return `its bound ${wrong} is not a decimal with this precision and scale.`;
  if (minimum === undefined || maximum === undefined) return undefined;
  return unitsOf(minimum, scale) <= unitsOf(maximum, scale)
    ? undefined
    : `its maximum ${maximum} is below ${minimum}, so that no value fits.`;
}

/** A decimal in units of its last digit. */
function unitsOf(text: string, scale: number): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(`${whole}${fraction.padEnd(scale, '0')}`);
}

/** Databases do not preserve a decimal's negative zero. */
function withoutNegativeZero(text: string): string {
  return /^-[0.]+$/.test(text) ? text.slice(1) : text;
}

function boundsOf<Bound>(minimum: Bound | undefined, maximum: Bound | undefined) {
  return { ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) };
}

function rangeOf<Bound extends number | string>(
  minimum: Bound | undefined,
  maximum: Bound | undefined,
  amountOf: (value: Bound) => Bound | bigint = (value) => value,
) {
  const bounds = [
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
  ].join(' and ');
  const holds = (value: Bound): boolean =>
    (minimum === undefined || amountOf(value) >= amountOf(minimum)) &&
    (maximum === undefined || amountOf(value) <= amountOf(maximum));
  return bounds === '' ? [] : [['out_of_range', `This must be ${bounds}.`, holds] as const];
}

/** False for `1.0` in JSON, which the body's parser converts to a JsonDecimal. */
function isInteger(sent: unknown): sent is number | bigint {
  return typeof sent === 'bigint' || Number.isSafeInteger(sent);
}

function withinBounds(minimum: number | bigint, maximum: number | bigint) {
  const holds = (value: number | bigint): boolean => value >= minimum && value <= maximum;
  return ['out_of_range', `This must be from ${minimum} to ${maximum}.`, holds] as const;
}

/** A value of an enumeration, whose name in the OpenAPI document is `enumName`. */
export function Enum<Value extends string>(
  options: FieldOptions<Value> & { readonly enumName: string; readonly values: readonly Value[] },
): PropertyDecorator {
  const { enumName, values, ...documented } = options;
  return defineField(
    {
      schema: { enum: [...values], enumName },
      declares: ['@Enum()', String],
      fault: valuesError(values),
      code: 'not_allowed_value',
      mustBe: `one of ${values.join(', ')}`,
      parse: (sent) => values.find((value) => value === sent),
    },
    documented,
  );
}

/** A boolean; in a path or query `true` or `false`. */
export function Flag(options: FieldOptions<boolean> = {}): PropertyDecorator {
  return defineField(
    {
      schema: { type: 'boolean' },
      declares: ['@Flag()', Boolean],
      code: 'not_a_flag',
      mustBe: 'true or false',
      parse: (sent) => (typeof sent === 'boolean' ? sent : undefined),
      text: { parse: (sent) => sent === 'true' || (sent === 'false' ? false : undefined) },
    },
    options,
  );
}

/** A duration such as `90d`; the property is in milliseconds. `0` is allowed only with `allowZero`. */
export function Duration(
  options: FieldOptions<string> & { readonly allowZero?: boolean },
): PropertyDecorator {
  const { allowZero = false, ...documented } = options;
  return defineField(
    {
      schema: { type: 'string', pattern: `^(?:${allowZero ? '0|' : ''}${DURATION_PATTERN})$` },
      declares: ['@Duration()', Number],
      code: 'not_a_duration',
      mustBe: `${DURATION_FORM}${allowZero ? ', or 0' : ''}`,
      parse: (sent) => {
        if (typeof sent !== 'string' || (sent === '0' && !allowZero)) return undefined;
        return parseDuration(sent);
      },
    },
    documented,
  );
}

const AN_INSTANT = '2026-11-20T12:00:00.000Z';

/** A timestamp as ISO 8601 text in UTC; the property is that text with milliseconds, so that texts sort by time. */
export function Instant(options: FieldOptions<string> = {}): PropertyDecorator {
  // Swagger UI sends the examples of optional parameters. With an example, this filter would make most lists empty.
  const example = options.optional ? {} : { example: AN_INSTANT };
  return defineField(
    {
      schema: { type: 'string', format: 'date-time', pattern: INSTANT.source, ...example },
      declares: ['@Instant()', String],
      code: 'not_an_instant',
      mustBe: `an instant in UTC such as ${AN_INSTANT}`,
      parse: (sent) => (typeof sent === 'string' ? parseInstant(sent)?.toISOString() : undefined),
    },
    options,
  );
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** A UUID (RFC 9562 section 4), in lower case. */
export function Uuid(options: FieldOptions<string> = {}): PropertyDecorator {
  return defineField(
    {
      schema: { type: 'string', format: 'uuid', pattern: UUID.source },
      declares: ['@Uuid()', String],
      code: 'not_a_uuid',
      mustBe: 'a UUID in lower case',
      parse: (sent) => (isText(sent, UUID) ? sent : undefined),
    },
    options,
  );
}

const MAX_STRINGS = 100;

/** A list of 1 to `maxItems` strings (default 100); the service decides which of them exist. */
export function StringList(
  options: FieldOptions<string[]> & { readonly maxItems?: number } = {},
): PropertyDecorator {
  const { maxItems = MAX_STRINGS, ...documented } = options;
  return defineField(
    {
      schema: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems },
      declares: ['@StringList()', Array],
      fault: boundsError(1, maxItems, 'maxItems'),
      code: 'not_a_list_of_names',
      mustBe: `a list of 1 to ${maxItems} strings`,
      parse: (sent) => (isListOfStrings(sent, maxItems) ? sent : undefined),
    },
    documented,
  );
}

function isListOfStrings(sent: unknown, maxItems: number): sent is string[] {
  if (!Array.isArray(sent) || sent.length === 0 || sent.length > maxItems) return false;
  return sent.every((one) => typeof one === 'string');
}
