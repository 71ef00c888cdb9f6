import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Rule } from './rule.js';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** A UUID in a path or query (RFC 9562 section 4), in lower case as the service writes it. */
export function UuidParameter(options: { description: string; optional?: boolean }): PropertyDecorator {
  const { description, optional = false } = options;
  return applyDecorators(
    ApiProperty({ type: 'string', format: 'uuid', description, required: !optional }),
    Rule(
      'not_a_uuid',
      'This must be a UUID in lower case.',
      (value) => (optional && value === undefined) || (typeof value === 'string' && UUID.test(value)),
    ),
  );
}
