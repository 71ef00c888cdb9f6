import {
  type ArgumentMetadata,
  Injectable,
  type PipeTransform,
  type Type,
  type ValidationError,
  ValidationPipe as NestValidationPipe,
  type ValidationPipeOptions,
} from '@nestjs/common';
import * as classTransformer from 'class-transformer';
import * as classValidator from 'class-validator';
import { ApiError, type ErrorDetail } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { isPlainObject, plainNumbers } from '../../core/exact-json.js';
import { FROM_PATCH, FROM_TEXT, REQUIRED, type SentAs } from './define-field.js';
import { INEXACT_NUMBER, inexactNumbers } from './free-json.js';
import {
  FieldTable,
  isDto,
  declaredFieldsOf,
  misspelledParameters,
  partKnownFields,
  unknownFieldOf,
} from './field-table.js';
import { isMergePatch } from '../operations/consumption.js';
import { sentFields } from './merge-patch.js';

/** All errors in one argument of a handler. */
export class InvalidArgument extends ApiError {
  constructor(
    readonly argument: ArgumentMetadata,
    errors: readonly ErrorDetail[],
  ) {
    super(HTTP_ERRORS.validation_failed, { details: errors });
  }
}

/** Errors of class-validator, thrown before their argument is known. */
class ClassValidatorErrors {
  constructor(readonly errors: readonly ValidationError[]) {}
}

/** A query may have undeclared parameters; other arguments may not. */
const OF_PARAMETERS = {
  transform: true,
  whitelist: true,
  // Data for detailsOf(), which Nest would omit.
  validationError: { target: true, value: true },
  exceptionFactory: (errors: ValidationError[]): ClassValidatorErrors => new ClassValidatorErrors(errors),
};
const OF_BODIES = { ...OF_PARAMETERS, forbidNonWhitelisted: true };

/** Validates an argument and reports all errors in it. Unknown fields are an error in a body, and in a query only if misspelled. */
@Injectable()
export class ValidationPipe implements PipeTransform {
  private readonly parameters = new PlainNumbersPipe({ ...OF_PARAMETERS, transformOptions: FROM_TEXT });
  private readonly bodies: Readonly<Record<SentAs, PlainNumbersPipe>> = {
    json: new PlainNumbersPipe(OF_BODIES),
    patch: new PlainNumbersPipe({ ...OF_BODIES, transformOptions: FROM_PATCH }),
    // Fields of a form are text, like parameters.
    text: new PlainNumbersPipe({ ...OF_BODIES, transformOptions: FROM_TEXT }),
  };

  /** Throws InvalidArgument, or malformed_json if the body is empty but required. */
  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    const { type, metatype } = metadata;
    // The body was not read, so this is the error of BodyGuard.
    if (type === 'body' && value instanceof ApiError) throw value;
    if (!metatype || !isDto(metatype) || type === 'custom') return this.ofOtherClass(value, metadata);
    const isObject = typeof value === 'object' && value !== null;
    if (type !== 'body') {
      if (!isObject) return this.ofOtherClass(value, metadata);
      return this.read(
        value,
        'text',
        metadata,
        type === 'query' ? misspelledParameters(value, metatype) : [],
      );
    }
    if (value === undefined) return this.withoutBody(metadata);
    if (!isObject || Array.isArray(value)) throw new InvalidArgument(metadata, [NOT_AN_OBJECT]);
    const { declared, details: errors } = partKnownFields(value, metatype);
    const as = isMergePatch(metatype) ? 'patch' : isForm(value) ? 'text' : 'json';
    return this.read(declared, as, metadata, errors);
  }

  /**
   * A value whose class declares no fields. Objects are left to the module's pipes, such as one with a zod schema. The value of a custom
   * decorator may contain the request, its socket and the server.
   */
  private async ofOtherClass(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (typeof value === 'object' && value !== null)
      return plainNumbers(value, (member) => Array.isArray(member) || isPlainObject(member));
    if (metadata.type !== 'body') return this.valid(this.parameters, value, metadata);
    return plainNumbers(await this.valid(this.bodies.json, value, metadata));
  }

  /** Converts a value to its class: with the table of the class or, if there is none, with Nest's pipe. */
  private read(
    value: object,
    as: SentAs,
    metadata: ArgumentMetadata,
    known: readonly ErrorDetail[],
  ): unknown {
    const table = FieldTable.of(metadata.metatype as new () => object);
    if (!table && metadata.type === 'body')
      return this.valid(this.bodies[as], value, metadata, [...inheritedNamesIn(value), ...known]);
    if (!table) return this.valid(this.parameters, value, metadata, known);
    const errors: ErrorDetail[] = [];
    const object = table.read(value, as, errors);
    if (errors.length + known.length > 0) throw new InvalidArgument(metadata, [...errors, ...known]);
    if (as === 'patch') sentFields(object, value);
    return object;
  }

  /** Converts the value to its class; throws InvalidArgument for class-validator's errors and those already known. */
  private async valid(
    pipe: PlainNumbersPipe,
    value: unknown,
    metadata: ArgumentMetadata,
    known: readonly ErrorDetail[] = [],
  ): Promise<unknown> {
    let valid: unknown;
    try {
      valid = await pipe.transform(value, metadata);
    } catch (error) {
      if (!(error instanceof ClassValidatorErrors)) throw error;
      const found = error.errors.flatMap((failure) => detailsOf(failure));
      throw new InvalidArgument(metadata, [...found, ...known]);
    }
    if (known.length > 0) throw new InvalidArgument(metadata, known);
    return pipe === this.bodies.patch ? sentFields(valid as object, value as object) : valid;
  }

  /** An absent body is read as an empty object, which is valid if every field is optional. */
  private async withoutBody(metadata: ArgumentMetadata): Promise<unknown> {
    try {
      return await this.transform({}, metadata);
    } catch (error) {
      if (!(error instanceof InvalidArgument)) throw error;
      throw new ApiError(HTTP_ERRORS.malformed_json, { params: { reason: 'it is empty' } });
    }
  }
}

/** Whether a body is a form, which multer, used by Nest's interceptors for files, creates without a prototype. */
function isForm(body: object): boolean {
  return Object.getPrototypeOf(body) === null;
}

/**
 * An error for each nested member with a name such as `constructor`, `prototype` or `toString`, which class-transformer or Nest would
 * silently drop.
 */
function inheritedNamesIn(value: object, parent = ''): ErrorDetail[] {
  return Object.entries(value).flatMap(([name, member]) => {
    const field = parent === '' ? name : `${parent}.${name}`;
    if (name in Object.prototype || name === 'prototype')
      return { field, code: 'unknown_field', message: 'This name is not allowed.' };
    return typeof member === 'object' && member !== null ? inheritedNamesIn(member as object, field) : [];
  });
}

const NOT_AN_OBJECT = { field: '', code: 'not_an_object', message: 'The body must be a JSON object.' };

/** The names of class-validator's own rules, which it exports as constants. */
const STOCK_RULES: ReadonlySet<unknown> = new Set(Object.values(classValidator));

function detailsOf(
  { property, constraints = {}, children = [], target, value }: ValidationError,
  parent = '',
): ErrorDetail[] {
  const field = parent === '' ? property : `${parent}.${property}`;
  const nested = children.flatMap((child) => detailsOf(child, field));
  if (UNKNOWN in constraints && target !== undefined)
    return [{ field, ...unknownFieldOf(target.constructor as Type) }];
  const rules = Object.entries(constraints);
  // A missing value violates every rule of its field. Report one error, in the words of the platform's fields.
  const isMissing = (rule: string): boolean =>
    target !== undefined && value === undefined && STOCK_RULES.has(rule);
  const own = rules
    .filter(([rule]) => !isMissing(rule))
    .map(([rule, message]) => ({ field, code: slugOf(rule), message }));
  return [...(own.length < rules.length ? [{ field, ...REQUIRED }] : []), ...own, ...nested];
}

/** class-validator's name of the error for an undeclared member. */
const UNKNOWN = 'whitelistValidation';

/** class-validator's own rules have camelCase names. */
function slugOf(rule: string): string {
  return rule.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Nest's pipe. Replaces decimals by numbers, after class-transformer has read integers and before the rules. */
export class PlainNumbersPipe extends NestValidationPipe {
  constructor(options: ValidationPipeOptions) {
    // Nest would import them itself, bypassing the bundle.
    super({ ...options, validatorPackage: classValidator, transformerPackage: classTransformer });
  }

  /**
   * Converts only the canonical text of a number or boolean. Nest would also convert `0x10` to 16 and any text to false, which the
   * parameter's pipe, such as ParseIntPipe, could then no longer reject.
   */
  protected override transformPrimitive(value: unknown, metadata: ArgumentMetadata): unknown {
    const converted: unknown = super.transformPrimitive(value, metadata);
    if (typeof converted !== 'number' && typeof converted !== 'boolean') return converted;
    return String(converted) === value && !Number.isNaN(converted) ? converted : value;
  }

  protected override async validate(
    ...[object, options]: Parameters<NestValidationPipe['validate']>
  ): Promise<ValidationError[]> {
    const [code, message] = INEXACT_NUMBER;
    const inexact = inexactNumbers(object, declaredFieldsOf).map((property) => ({
      property,
      constraints: { [code]: message },
    }));
    plainNumbers(object);
    return [...(await super.validate(object, options)), ...inexact];
  }
}
