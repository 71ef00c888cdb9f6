import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Rule } from './rule.js';

/** An optional list of names in a JSON body; which names there are is for the service to say. */
export function NamesProperty(options: { description: string; example: string[] }): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: 'array', items: { type: 'string' }, minItems: 1, ...options }),
    Rule('not_a_list_of_names', 'This must be a list of strings, at least one.', isListOfNames),
  );
}

function isListOfNames(value: unknown): boolean {
  if (value === undefined) return true;
  return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string');
}
