/** Metadata key by which `@Operation()` marks a handler: whatever it answers is JSON, or nothing. */
export const ANSWERS_JSON = 'petstore:answers-json';
