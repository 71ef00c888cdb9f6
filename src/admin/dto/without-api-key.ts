import { holdsApiKey } from '../../accounts/api-key.format.js';
import { Rule } from '../../input/define-field.js';

/** Refuses a text that holds an API key: what is stored is shown and logged, and a key is neither. */
export function WithoutApiKey(): PropertyDecorator {
  return Rule(
    'holds_api_key',
    'This must not hold an API key.',
    (value) => typeof value !== 'string' || !holdsApiKey(value),
  );
}
