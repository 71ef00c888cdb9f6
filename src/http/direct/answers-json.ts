/**
 * Metadata key by which `@Operation()` marks a handler: whatever it answers is JSON, or nothing. The value is the DTO that its
 * answer is shown as, or the elements of its answer.
 */
export const ANSWERS_JSON = 'petstore:answers-json';
