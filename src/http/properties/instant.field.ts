import { ApiProperty } from '@nestjs/swagger';

/** An instant in a response: ISO 8601 text in UTC with milliseconds; always documented, never validated. */
export function InstantField(options: { description: string; nullable?: boolean }): PropertyDecorator {
  return ApiProperty({
    type: 'string',
    format: 'date-time',
    example: '2026-11-20T12:00:00.000Z',
    ...options,
  });
}
