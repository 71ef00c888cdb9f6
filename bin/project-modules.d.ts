/**
 * The file that `petstore.modules` of the project's package.json names: of the nearest package.json above the working directory
 * that has it, within the folder that the service is installed in. Undefined in a checkout of the service, and where no
 * package.json names one.
 */
export function modulesFile(): string | undefined;

/** The variables in `petstore.settings` of the project's package.json, which is found as that of the modules; in a checkout those of its own. */
export function projectSettings(): Record<string, string>;
