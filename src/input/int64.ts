import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform, type TransformFnParams } from 'class-transformer';
import { INT64_MAX, INT64_MIN } from '../database/int64.js';
import { Required, Rule } from './rule.js';

const DECIMAL = /^-?(0|[1-9]\d*)$/;
const OUT_OF_RANGE = `This must be from ${INT64_MIN} to ${INT64_MAX}.`;

/** Documentation of an int64. */
export interface Int64Options {
  readonly description: string;
  readonly example: number;
}

/** A required int64 in a JSON body, written as a JSON integer; the property is a `bigint`. */
export function Int64Property(options: Int64Options): PropertyDecorator {
  return int64(options, 'This must be an integer.', fromJson);
}

/** A required int64 in a path or query, in decimal without sign `+` or leading zeros; the property is a `bigint`. */
export function Int64Parameter(options: Int64Options): PropertyDecorator {
  return int64(options, 'This must be an integer in decimal.', fromText);
}

function int64(
  options: Int64Options,
  message: string,
  toBigInt: (params: TransformFnParams) => unknown,
): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: 'integer', format: 'int64', ...options }),
    Transform(toBigInt),
    Required(),
    Rule('not_an_integer', message, (value) => value === undefined || typeof value === 'bigint'),
    Rule(
      'out_of_range',
      OUT_OF_RANGE,
      (value) => typeof value !== 'bigint' || (value >= INT64_MIN && value <= INT64_MAX),
    ),
  );
}

/** `1.0` is no number here but a JsonDecimal, and stays for the rule to refuse. */
function fromJson({ value }: TransformFnParams): unknown {
  return Number.isSafeInteger(value) ? BigInt(value as number) : (value as unknown);
}

function fromText({ value }: TransformFnParams): unknown {
  return typeof value === 'string' && DECIMAL.test(value) ? BigInt(value) : (value as unknown);
}
