import type { TestResponse } from '../kit/test-response.js';

/** The errors in a response with status 400, each as field and code, in order; empty for other responses. */
export const faultsOf = ({ body }: TestResponse): string[] =>
  (body?.details ?? []).map(({ field, code }: { field: string; code: string }) => `${field} ${code}`);
