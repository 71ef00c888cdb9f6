import { holdsApiKey } from '../../auth/api-key.format.js';
import { Rule } from './define-field.js';

/** Rejects text that contains an API key, because names and labels are displayed and logged, which keys must never be. */
export function WithoutApiKey(): PropertyDecorator {
  return Rule(
    'holds_api_key',
    'This must not contain an API key.',
    (value) => typeof value !== 'string' || !holdsApiKey(value),
  );
}
