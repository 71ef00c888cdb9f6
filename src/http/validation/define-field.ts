import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { type ClassTransformOptions, Expose, Transform, type TransformFnParams } from 'class-transformer';
import { ValidateBy, type ValidationArguments } from 'class-validator';
import { invalidDeclaration, decorated } from '../../core/declaration-errors.js';
import { isPlainObject } from '../../core/exact-json.js';

const TEXT = 'petstore:text';

/** Options of class-transformer for path and query parameters, whose values are text; by default, values are JSON. */
export const FROM_TEXT: ClassTransformOptions = { groups: [TEXT] };

const PATCH = 'petstore:merge-patch';

/** Options of class-transformer for merge patches: an absent field has no default, and null removes a field. */
export const FROM_PATCH: ClassTransformOptions = { groups: [PATCH] };

/** Options of every field. `Sent` is its type as sent by the client. */
export interface FieldOptions<Sent> {
  readonly description?: string;
  readonly example?: Sent;
  /** Whether it may be absent; a field with a `default` always may. */
  readonly optional?: boolean;
  /** Whether it may be null. */
  readonly nullable?: boolean;
  /** The value of an absent field, in the form sent by clients. */
  readonly default?: Sent;
  /** In a query: 1 to 16 comma-separated values; the property is an array. Each value is validated and must not contain a comma. */
  readonly list?: boolean;
}

/** A kind of value. `Value` is the type of the property. */
export interface FieldKind<Value> {
  /** Type and bounds for the OpenAPI document. */
  readonly schema: ApiPropertyOptions;
  /** Error code for a value of the wrong type. */
  readonly code: string;
  /** The allowed values, to complete "This must be …". */
  readonly mustBe: string;
  /** Converts a JSON value; undefined if it has the wrong type. */
  readonly parse: (sent: unknown) => Value | undefined;
  /** Converts the text of a path or query parameter, if that differs. */
  readonly text?: { readonly mustBe?: string; readonly parse: (sent: unknown) => Value | undefined };
  /** The required decorator and type of its property, such as `['@Text()', String]`; compared at startup. */
  readonly declares?: readonly [decorator: string, type: object];
  /** An error in its bounds or values, with which the service does not start. */
  readonly fault?: string | undefined;
  /** Additional rules for values of this kind. */
  readonly rules?: readonly (readonly [code: string, message: string, holds: (value: Value) => boolean])[];
}

/** Replaces a value of the wrong type, so that only the rule for the type reports it. */
class Unreadable {
  constructor(readonly message: string) {}
}

/** The format of values: parsed JSON, text of parameters and forms, or a merge patch. */
export type SentAs = 'json' | 'text' | 'patch';

/** Objects that a field has accepted unchanged. */
const asSent = new WeakSet();

/** Whether a value is free-form JSON that its field has accepted unchanged. */
export function isAsSent(value: unknown): boolean {
  return typeof value === 'object' && value !== null && asSent.has(value);
}

/** Converts the sent values of a field. */
export class Field {
  private readonly ofText: Pick<FieldKind<unknown>, 'mustBe' | 'parse'>;

  constructor(
    private readonly kind: FieldKind<unknown>,
    private readonly nullable: boolean,
    /** The value of an absent field, in the form sent by clients; undefined without a default. */
    readonly fallback: unknown,
  ) {
    this.ofText = { ...kind, ...kind.text };
  }

  /** The value of the property; an Unreadable, which the rule for the type reports, for a value of the wrong type. */
  read(sent: unknown, as: SentAs): unknown {
    if (sent === undefined)
      return this.fallback === undefined || as === 'patch' ? undefined : this.kind.parse(this.fallback);
    // A rule of the patch decides whether null may remove a field.
    if (sent === null && (this.nullable || as === 'patch')) return null;
    const { parse, mustBe } = as === 'text' ? this.ofText : this.kind;
    const value = parse(sent);
    if (value === sent && typeof value === 'object' && value !== null) asSent.add(value);
    return value ?? new Unreadable(`This must be ${mustBe}${this.nullable ? ' or null' : ''}.`);
  }
}

/** Metadata key of a property with a field decorator. */
const HAS_FIELD = 'petstore:field';

/** Fields by the functions passed to class-transformer. */
export const FIELDS = new WeakMap<object, Field>();

const MAX_LISTED = 16;

/** Comma-separated values of a kind (OpenAPI: style `form`, not exploded). */
function listOf<Value>(kind: FieldKind<Value>): FieldKind<Value[]> {
  const { schema, code, rules = [], text, declares, fault: error } = kind;
  const one = { ...kind, ...text };
  const { enumName: _named, ...plain } = schema as Readonly<Record<string, unknown>>;
  const holds = (value: Value): boolean => rules.every(([, , isRight]) => isRight(value));
  return {
    schema: {
      type: 'array',
      items: { type: 'string', ...plain },
      minItems: 1,
      maxItems: MAX_LISTED,
      style: 'form',
      explode: false,
    } as unknown as ApiPropertyOptions,
    code,
    fault: error,
    ...(declares ? { declares: [declares[0], Array] as const } : {}),
    mustBe: `1 to ${MAX_LISTED} values separated by commas, each ${one.mustBe}`,
    parse: (sent) => {
      const values = typeof sent === 'string' ? sent.split(',', MAX_LISTED + 1).map(one.parse) : [];
      const isList = values.length > 0 && values.length <= MAX_LISTED;
      return isList && values.every((value) => value !== undefined && holds(value))
        ? (values as Value[])
        : undefined;
    },
  };
}

/** The error for a missing required field, which replaces those of class-validator. */
export const REQUIRED = { code: 'required', message: 'This field is required.' };

/**
 * Creates the property decorator for a kind of value, which converts, validates and documents it. It works in classes for bodies, for path
 * and query parameters, and for responses, which are only documented.
 */
export function defineField<Sent, Value>(
  kind: FieldKind<Value>,
  options: FieldOptions<Sent>,
): PropertyDecorator {
  const { list = false, ...others } = options;
  if (list) return defineField(listOf(kind), others);
  const { optional = false, ...documented } = others;
  const { nullable = false, default: fallback } = documented;
  const isOptional = optional || fallback !== undefined;
  const refused = defaultError(kind, fallback);

  const field = new Field(kind as FieldKind<unknown>, nullable, fallback);
  const read = ({ value, obj, options: how }: TransformFnParams): unknown =>
    // A second ValidationPipe receives an instance, whose values are already converted.
    isPlainObject(obj as object) ? field.read(value, sentAs(how)) : value;
  FIELDS.set(read, field);
  const isRead = (value: unknown): value is Value =>
    value !== undefined && value !== null && !(value instanceof Unreadable);

  const checked = (target: object, property: string | symbol): void => {
    const isSecond = Reflect.hasOwnMetadata(HAS_FIELD, target, property);
    Reflect.defineMetadata(HAS_FIELD, true, target, property);
    for (const error of [
      isSecond ? 'it has two decorators of a field. Remove one of them.' : undefined,
      kind.fault,
      refused,
      typeError(kind, Reflect.getMetadata('design:type', target, property)),
    ])
      if (error !== undefined) invalidDeclaration(`${decorated(target, property)}: ${error}`);
  };

  return applyDecorators(
    checked,
    ApiProperty({
      ...kind.schema,
      ...documented,
      required: !isOptional,
    } as ApiPropertyOptions),
    // Otherwise class-transformer skips an absent property, which then has no default.
    ...(fallback === undefined ? [] : [Expose()]),
    Transform(read),
    ...(isOptional ? [] : [Rule(REQUIRED.code, REQUIRED.message, (value) => value !== undefined)]),
    ruleOf(
      new FieldRule(
        kind.code,
        (value) => (value as Unreadable).message,
        (value) => !(value instanceof Unreadable),
        field,
      ),
    ),
    ...(kind.rules ?? []).map(([rule, text, holds]) =>
      Rule(rule, text, (value) => !isRead(value) || holds(value)),
    ),
  );
}

/** The format of values, from the options passed to class-transformer: FROM_TEXT, FROM_PATCH or none. */
function sentAs({ groups = [] }: ClassTransformOptions): SentAs {
  if (groups.includes(PATCH)) return 'patch';
  return groups.includes(TEXT) ? 'text' : 'json';
}

/** The compiler emits Object for a type that is unknown or not a class. */
function typeError({ declares }: Pick<FieldKind<never>, 'declares'>, type: unknown): string | undefined {
  const [decorator, created] = declares ?? [];
  if (!created || typeof type !== 'function' || type === Object || type === created) return undefined;
  return `its type is ${nameOf(type)}, but ${decorator} makes it ${nameOf(created)}. Change one of them.`;
}

function nameOf(type: object): string {
  const { name } = type as { readonly name: string };
  return [String, Number, Boolean, BigInt].includes(type as never) ? name.toLowerCase() : name;
}

/** The error for bounds that no value can satisfy. */
export function boundsError<Bound extends number | string>(
  minimum: Bound,
  maximum: Bound,
  name = 'maximum',
): string | undefined {
  return minimum <= maximum
    ? undefined
    : `its ${name} ${maximum} is below ${minimum}, so that no value fits.`;
}

/** The error in a list of allowed values. */
export function valuesError(values: readonly string[]): string | undefined {
  if (values.length === 0) return 'it allows no value. Name at least one.';
  const twice = values.find((value, at) => values.indexOf(value) !== at);
  return twice === undefined ? undefined : `it allows "${twice}" twice. Remove one of them.`;
}

/** The error for a default that the field itself would reject. */
function defaultError<Value>(kind: FieldKind<Value>, fallback: unknown): string | undefined {
  if (fallback === undefined) return undefined;
  const value = kind.parse(fallback);
  const broken = value === undefined ? undefined : kind.rules?.find(([, , holds]) => !holds(value));
  if (value !== undefined && !broken) return undefined;
  const reason = broken?.[1] ?? `This must be ${kind.mustBe}.`;
  return `it has the default ${JSON.stringify(fallback)}, which it refuses: ${reason}`;
}

/**
 * A rule of a property: if `holds` returns false, its code and text are in the `details` of a 400. Return true for a value that another
 * rule of the property rejects, so that each error is reported once.
 */
export function Rule(
  code: string,
  message: string | ((value: unknown) => string),
  holds: (value: unknown) => boolean,
): PropertyDecorator {
  return ruleOf(new FieldRule(code, typeof message === 'string' ? () => message : message, holds));
}

/** A rule of a property, stored in class-validator's constraints. */
export class FieldRule {
  constructor(
    readonly code: string,
    readonly message: (value: unknown) => string,
    readonly holds: (value: unknown) => boolean,
    /** Set for the rule that checks the type of this field. */
    readonly field?: Field,
  ) {}
}

function ruleOf(rule: FieldRule): PropertyDecorator {
  const defaultMessage = (args?: ValidationArguments): string => rule.message(args?.value);
  const validator = { validate: rule.holds, defaultMessage };
  return ValidateBy({ name: rule.code, constraints: [rule], validator });
}
