/**
 * The file that `petstore.modules` of the project's package.json names: of the nearest package.json above the working directory
 * that has it, within the folder that the service is installed in. Undefined in a checkout of the service, and where no
 * package.json names one.
 */
export function modulesFile(): string | undefined;
