/** Where the files are for the documents of this service, from the project's root. */
export const GENERATED: string;

/**
 * What the typed client has of OpenAPI documents, the first of which is that of a version: types, operations and error classes by the
 * names of their files. Throws when the documents contradict each other.
 */
export function clientFiles(documents: readonly object[]): Promise<Record<string, string>>;
