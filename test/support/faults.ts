import type { TestResponse } from '../kit/test-response.js';

/** The faults that a 400 names, each as its field and code, in their order; none for other responses. */
export const faultsOf = ({ body }: TestResponse): string[] =>
  (body?.details ?? []).map(({ field, code }: { field: string; code: string }) => `${field} ${code}`);
