/** Builds dist/ if it is older than its sources; exits the process with 1 when the build fails. */
export function buildIfStale(): void;

/** The files and folders that a build is made of, from the project's root. */
export const INPUTS: readonly string[];
