import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform, type TransformFnParams } from 'class-transformer';
import { isWrittenAsInteger } from '../exact-json.js';
import { Rule } from './rule.js';

/** An optional integer in a JSON body, written as a JSON integer within bounds (both included). */
export function IntegerProperty(options: {
  description: string;
  example: number;
  minimum: number;
  maximum: number;
}): PropertyDecorator {
  const { minimum, maximum } = options;
  return applyDecorators(
    ApiPropertyOptional({ type: 'integer', ...options }),
    Transform(integerOrAsSent),
    Rule('not_an_integer', 'This must be an integer.', (value) => value === undefined || isInteger(value)),
    Rule(
      'out_of_range',
      `This must be from ${minimum} to ${maximum}.`,
      (value) => !isInteger(value) || (value >= minimum && value <= maximum),
    ),
  );
}

/** What `1.0` was written as is known to the body alone, so it becomes text that no rule takes. */
function integerOrAsSent({ value, obj, key }: TransformFnParams): unknown {
  return typeof value === 'number' && !isWrittenAsInteger(obj as object, key)
    ? String(value)
    : (value as unknown);
}

function isInteger(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}
