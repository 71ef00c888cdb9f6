import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Expose, Transform, type TransformFnParams } from 'class-transformer';
import { Rule } from './rule.js';

/** An optional `true` or `false` in a query; absent means false. */
export function FlagParameter(options: { description: string }): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: 'boolean', default: false, ...options }),
    // Without it class-transformer passes over a parameter that is absent, and its default with it.
    Expose(),
    Transform(({ value }: TransformFnParams): unknown => flagOf(value)),
    Rule('not_a_flag', 'This must be true or false.', (value) => typeof value === 'boolean'),
  );
}

function flagOf(value: unknown): unknown {
  if (value === undefined || value === 'false') return false;
  return value === 'true' ? true : value;
}
