import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform, type TransformFnParams } from 'class-transformer';
import { JsonDecimal } from '../exact-json.js';
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
    Transform(integerOrText),
    Rule('not_an_integer', 'This must be an integer.', (value) => value === undefined || isInteger(value)),
    Rule(
      'out_of_range',
      `This must be from ${minimum} to ${maximum}.`,
      (value) => !isInteger(value) || (value >= minimum && value <= maximum),
    ),
  );
}

/** `1.0` is not written as an integer; its text is what no rule takes. */
function integerOrText({ value }: TransformFnParams): unknown {
  return value instanceof JsonDecimal ? value.text : (value as unknown);
}

function isInteger(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}
