/**
 * The file named by `petstore.modules` in the project's package.json, which is the nearest one with this member: in the working directory
 * or above it, up to the folder in which the service is installed. Undefined in a checkout of the service, and if no package.json has the
 * member.
 */
export function modulesFile(): string | undefined;

/** The variables in `petstore.settings` of the project's package.json, found as for modulesFile(), or of a checkout's package.json. */
export function projectSettings(): Record<string, string>;
