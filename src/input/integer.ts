import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Expose, Transform, type TransformFnParams } from 'class-transformer';
import { JsonDecimal } from '../http/body/exact-json.js';
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

const DECIMAL = /^-?(0|[1-9]\d*)$/;

/** An optional integer in a query, within bounds (both included); never clamped. */
export function IntegerParameter(options: {
  description: string;
  minimum: number;
  maximum: number;
  default: number;
}): PropertyDecorator {
  const { minimum, maximum, default: fallback } = options;
  return applyDecorators(
    ApiPropertyOptional({ type: 'integer', ...options }),
    // Without it class-transformer passes over a parameter that is absent, and its default with it.
    Expose(),
    Transform(({ value }: TransformFnParams): unknown => (value === undefined ? fallback : toNumber(value))),
    Rule(
      'not_an_integer',
      'This must be one integer in decimal, without sign or leading zeros.',
      (value) => typeof value === 'number',
    ),
    Rule(
      'out_of_range',
      `This must be from ${minimum} to ${maximum}.`,
      (value) => typeof value !== 'number' || (value >= minimum && value <= maximum),
    ),
  );
}

function toNumber(value: unknown): unknown {
  return typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value;
}
