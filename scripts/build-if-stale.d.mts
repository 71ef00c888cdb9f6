/** Builds dist/ if it is older than its sources; exits the process with 1 when the build fails. */
export function buildIfStale(): void;
