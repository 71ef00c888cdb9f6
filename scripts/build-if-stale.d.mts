/** Builds dist/ if it is older than its sources. Exits with 1 if the build fails. */
export function buildIfStale(): void;

/** The files and folders that a build depends on, relative to the project's root. */
export const INPUTS: readonly string[];
