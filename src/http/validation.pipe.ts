import {
  Injectable,
  ValidationPipe as NestValidationPipe,
  type ArgumentMetadata,
  type PipeTransform,
  type ValidationError,
} from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';
import { ApiError, type FaultDetail } from '../errors/api-error.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';

const exceptionFactory = (errors: ValidationError[]): ApiError =>
  refusal(errors.flatMap((error) => detailsOf(error)));

/**
 * Validates what handlers take and names every fault at once. In a body an unknown field is a fault, because
 * a typing error in an optional field must not vanish; in a query it is ignored.
 */
@Injectable()
export class ValidationPipe implements PipeTransform {
  private readonly body = new NestValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    exceptionFactory,
  });
  private readonly parameters = new NestValidationPipe({
    transform: true,
    whitelist: true,
    exceptionFactory,
  });

  async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type !== 'body') return (await this.parameters.transform(value, metadata)) as unknown;
    const { metatype } = metadata;
    if (!metatype || !isDto(metatype)) return (await this.body.transform(value, metadata)) as unknown;
    if (value === undefined) return this.withoutBody(metadata);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAnObject();
    const unknown = takeUnknownFields(value, metatype);
    try {
      const valid = (await this.body.transform(value, metadata)) as unknown;
      if (unknown.length === 0) return valid;
    } catch (error) {
      if (!(error instanceof ApiError) || !error.body.details) throw error;
      throw refusal([...error.body.details, ...unknown]);
    }
    throw refusal(unknown);
  }

  /** A body all of whose fields may be absent may be absent itself. */
  private async withoutBody(metadata: ArgumentMetadata): Promise<unknown> {
    try {
      return (await this.body.transform({}, metadata)) as unknown;
    } catch {
      throw notAnObject();
    }
  }
}

function notAnObject(): ApiError {
  return refusal([{ field: '', code: 'not_an_object', message: 'The body must be a JSON object.' }]);
}

function refusal(details: readonly FaultDetail[]): ApiError {
  return new ApiError(HTTP_ERRORS.validation_failed, { details });
}

function detailsOf(error: ValidationError, parent = ''): FaultDetail[] {
  const field = parent === '' ? error.property : `${parent}.${error.property}`;
  const own = Object.entries(error.constraints ?? {}).map(([rule, message]) => ({
    field,
    code: slugOf(rule),
    message,
  }));
  return [...own, ...(error.children ?? []).flatMap((child) => detailsOf(child, field))];
}

/** class-validator's own rules have camelCase names. */
function slugOf(rule: string): string {
  if (rule === 'whitelistValidation') return 'unknown_field';
  return rule.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function isDto(metatype: abstract new (...args: never[]) => unknown): boolean {
  return fieldsOf(metatype).size > 0;
}

/** The fields of each class, which its decorators declared before any body came. */
const knownFields = new WeakMap<object, ReadonlySet<string>>();

function fieldsOf(metatype: abstract new (...args: never[]) => unknown): ReadonlySet<string> {
  let fields = knownFields.get(metatype);
  if (!fields) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(metatype, '', false, false);
    fields = new Set(rules.map(({ propertyName }) => propertyName));
    knownFields.set(metatype, fields);
  }
  return fields;
}

/**
 * Removes the fields that the class does not have and answers a fault for each. class-transformer drops some
 * names (`__proto__`, `constructor`) before its validator could see them, and trips over others.
 */
function takeUnknownFields(
  body: object,
  metatype: abstract new (...args: never[]) => unknown,
): FaultDetail[] {
  const known = fieldsOf(metatype);
  const unknown = Object.keys(body).filter((field) => !known.has(field));
  for (const field of unknown) Reflect.deleteProperty(body, field);
  const message = `This field is not known; known are ${[...known].join(', ')}.`;
  return unknown.map((field) => ({ field, code: 'unknown_field', message }));
}
