import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Expose, Transform, type TransformFnParams } from 'class-transformer';
import { DURATION_FORM, parseDuration } from '../duration.js';
import { Rule } from './rule.js';

/** An optional duration in a JSON body, such as `90d`; the property is in milliseconds. `0` only if `orZero`. */
export function DurationProperty(options: {
  description: string;
  example: string;
  orZero?: boolean;
  default?: string;
}): PropertyDecorator {
  const { orZero = false, default: fallback, ...documented } = options;
  return applyDecorators(
    ApiPropertyOptional({
      type: 'string',
      ...documented,
      ...(fallback === undefined ? {} : { default: fallback }),
    }),
    // Without it class-transformer passes over a property that is absent, and its default with it.
    Expose(),
    Transform(({ value }: TransformFnParams): unknown => {
      const text: unknown = value === undefined ? fallback : value;
      if (typeof text === 'string') return parseDuration(text) ?? text;
      // A number as sent would be taken for milliseconds.
      return typeof text === 'number' ? String(text) : text;
    }),
    Rule(
      'not_a_duration',
      `This must be ${DURATION_FORM}${orZero ? ', or 0' : ''}.`,
      (value) => value === undefined || (typeof value === 'number' && (orZero || value > 0)),
    ),
  );
}

/** An instant in a response: ISO 8601 text in UTC with milliseconds; always documented, never validated. */
export function InstantField(options: { description: string; nullable?: boolean }): PropertyDecorator {
  return ApiProperty({
    type: 'string',
    format: 'date-time',
    example: '2026-11-20T12:00:00.000Z',
    ...options,
  });
}
