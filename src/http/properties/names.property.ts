import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Rule } from './rule.js';

/** More names than this are no list of anybody. */
const MOST_NAMES = 100;

/** An optional list of names in a JSON body; which names there are is for the service to say. */
export function NamesProperty(options: { description: string; example: string[] }): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({
      type: 'array',
      items: { type: 'string' },
      minItems: 1,
      maxItems: MOST_NAMES,
      ...options,
    }),
    Rule('not_a_list_of_names', `This must be a list of 1 to ${MOST_NAMES} strings.`, isListOfNames),
  );
}

function isListOfNames(value: unknown): boolean {
  if (value === undefined) return true;
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_NAMES) return false;
  return value.every((name) => typeof name === 'string');
}
