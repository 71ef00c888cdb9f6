import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { declaring } from '../declared-operation.js';
import { MAX_DETAILS } from './api-error.js';
import type { ErrorRow } from './define-errors.js';

/** The specification's schema "Error" for the OpenAPI document; ErrorBody is the value. */
@ApiSchema({ name: 'Error', description: 'The body of every error response.' })
export class ErrorSchema {
  @ApiProperty({ description: 'Machine-readable error code', example: 'validation_failed' })
  code!: string;

  @ApiProperty({
    description: 'Human-readable description',
    example: 'The request contains invalid values; see details.',
  })
  message!: string;

  @ApiProperty({ type: 'integer', description: 'The HTTP status code', example: 400 })
  status!: number;

  @ApiPropertyOptional({
    description:
      'All errors in the request; only with the code `validation_failed`. If there are more than ' +
      `${MAX_DETAILS}, the first ${MAX_DETAILS - 1} are listed, and a last entry with the code \`more_faults\` and ` +
      'an empty field contains the number of omitted errors.',
    type: 'array',
    maxItems: MAX_DETAILS,
    items: {
      type: 'object',
      required: ['field', 'code', 'message'],
      properties: {
        field: {
          type: 'string',
          description: 'Name of the field or parameter, truncated if long; empty for the body as a whole',
        },
        code: { type: 'string', description: 'The rule that was violated' },
        message: { type: 'string', description: 'Human-readable explanation of the error' },
      },
    },
  })
  details?: object[];
}

/**
 * Documents the errors of an operation. Those of the request chain (key, quota, scope, body, validation) are added to every operation
 * automatically.
 */
export function ApiErrors(...rows: ErrorRow[]): MethodDecorator & ClassDecorator {
  return declaring({ errors: rows });
}
