/** The folder with the generated files for this service, relative to the project's root. */
export const GENERATED: string;

/**
 * The contents of the generated files of the typed client, by file name: types, operations and error classes. The first document must
 * describe an API version. Throws if the documents contradict each other.
 */
export function clientFiles(documents: readonly object[]): Promise<Record<string, string>>;

/** Operations that the client's handwritten code calls but the documents do not define. `folder` contains the generated files. */
export function absentOperations(folder: string, documents: readonly object[]): string[];
