import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Required, Rule } from './rule.js';

/** What the document can say of the rules below in a form that generated clients of any language understand. */
const PATTERN = '^[^\\x00]*[^\\s\\x00][^\\x00]*$';
const ACCEPTED = 'At least one visible character; no NUL and no half of a surrogate pair';
const VISIBLE = /[^\s\p{Cc}\p{Cf}]/u;

/**
 * A text of 1 to `maxLength` characters (code points), returned as sent. It may not be blank, nor hold NUL or half of a
 * surrogate pair, which databases and UTF-8 cannot carry. It must be there unless `optional`, and may be null only if
 * `nullable`.
 */
export function TextProperty(options: {
  description: string;
  example: string;
  maxLength: number;
  optional?: boolean;
  nullable?: boolean;
}): PropertyDecorator {
  const { maxLength, optional = false, nullable = false, example } = options;
  const description = `${options.description}. ${ACCEPTED}`;
  const form = { type: 'string', minLength: 1, maxLength, pattern: PATTERN, required: !optional } as const;
  return applyDecorators(
    ApiProperty({ ...form, ...(nullable ? { nullable } : {}), description, example }),
    ...(optional ? [] : [Required()]),
    Rule(
      'not_a_string',
      nullable ? 'This must be a string or null.' : 'This must be a string.',
      (value) => value === undefined || typeof value === 'string' || (nullable && value === null),
    ),
    whenText('blank', 'This must hold a visible character.', (text) => VISIBLE.test(text)),
    whenText(
      'too_long',
      `This must have at most ${maxLength} characters.`,
      (text) => lengthOf(text) <= maxLength,
    ),
    whenText('forbidden_character', 'This must not hold NUL or half of a surrogate pair.', isCarriable),
  );
}

function whenText(code: string, message: string, holds: (text: string) => boolean): PropertyDecorator {
  return Rule(code, message, (value) => typeof value !== 'string' || holds(value));
}

function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

function isCarriable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

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
