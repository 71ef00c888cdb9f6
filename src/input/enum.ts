import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Expose, Transform, type TransformFnParams } from 'class-transformer';
import { Required, Rule } from './rule.js';

/** An enumeration as the OpenAPI document names it. */
export interface EnumOptions<Value extends string> {
  readonly enumName: string;
  readonly values: readonly Value[];
  readonly description: string;
  /** Taken when the property is absent. */
  readonly default?: Value;
  /** Whether it must be there. */
  readonly required?: boolean;
}

/** A value of an enumeration, in a body or a query, optional unless `required`; `null` and empty text are refused. */
export function EnumProperty<Value extends string>(options: EnumOptions<Value>): PropertyDecorator {
  const { values, default: fallback, required = false } = options;
  const documented = {
    enum: [...values],
    enumName: options.enumName,
    description: options.description,
    ...(fallback === undefined ? {} : { default: fallback }),
  };
  return applyDecorators(
    ApiProperty({ ...documented, required }),
    // Without it class-transformer passes over a property that is absent, and its default with it.
    Expose(),
    Transform(({ value }: TransformFnParams): unknown =>
      value === undefined ? fallback : (value as unknown),
    ),
    Rule(
      'not_allowed_value',
      `This must be one of ${values.join(', ')}.`,
      (value) => value === undefined || values.some((allowed) => allowed === value),
    ),
    ...(required ? [Required()] : []),
  );
}

/** An enumeration in a response; always documented, never validated. */
export function EnumField<Value extends string>(
  options: Omit<EnumOptions<Value>, 'default' | 'required'>,
): PropertyDecorator {
  return ApiProperty({
    enum: [...options.values],
    enumName: options.enumName,
    description: options.description,
    required: false,
  });
}

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
