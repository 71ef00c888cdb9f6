import { type ValidationPipeOptions, ValidationPipe as NestValidationPipe } from '@nestjs/common';
import * as classTransformer from 'class-transformer';
import * as classValidator from 'class-validator';
import { JsonDecimal } from '../body/exact-json.js';

/** Replaces every JsonDecimal by a plain number, in place, in arrays, objects and instances; returns the value. */
export function plainNumbers(value: unknown): unknown {
  if (value instanceof JsonDecimal) return value.valueOf();
  if (typeof value !== 'object' || value === null) return value;
  const pending: object[] = [value];
  // A transformation of an added module may have made a circular structure.
  let seen: Set<object> | undefined;
  for (let holder = pending.pop(); holder; holder = pending.pop()) {
    if (ArrayBuffer.isView(holder)) continue;
    for (const name of Object.keys(holder)) {
      const member = (holder as Readonly<Record<string, unknown>>)[name];
      if (typeof member !== 'object' || member === null) continue;
      if (member instanceof JsonDecimal) {
        (holder as Record<string, unknown>)[name] = member.valueOf();
        continue;
      }
      seen ??= new Set([value]);
      if (!seen.has(member)) pending.push(member);
      seen.add(member);
    }
  }
  return value;
}

/** Nest's own pipe. Replaces decimals by numbers after class-transformer, which has read integers, and before the rules. */
export class PlainNumbersPipe extends NestValidationPipe {
  constructor(options: ValidationPipeOptions) {
    // Nest would import them itself, past the bundle.
    super({ ...options, validatorPackage: classValidator, transformerPackage: classTransformer });
  }

  protected override validate(
    ...[object, options]: Parameters<NestValidationPipe['validate']>
  ): ReturnType<NestValidationPipe['validate']> {
    plainNumbers(object);
    return super.validate(object, options);
  }
}
