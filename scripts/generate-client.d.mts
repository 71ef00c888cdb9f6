/** Where the files are for the documents of this service, from the project's root. */
export const GENERATED: string;

/**
 * What the typed client has of OpenAPI documents, the first of which is that of a version: types, operations and error classes by the
 * names of their files. Throws when the documents contradict each other.
 */
export function clientFiles(documents: readonly object[]): Promise<Record<string, string>>;

/** The operations that the client's own code, above the folder of its generated files, calls and that the documents lack. */
export function absentOperations(folder: string, documents: readonly object[]): string[];
