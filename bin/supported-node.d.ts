/**
 * The folder in which the software is installed. Throws if no folder above contains a package.json, for example if only dist was copied.
 */
export function softwareFolder(): string;

/** The supported versions of Node.js in package.json, such as `^20.19.0 || >=24.0.0`. */
export function supportedNode(): string;

/** Whether a version such as `20.19.4` is in a range of `^1.2.3` and `>=1.2.3`, joined by `||`. Throws for any other form of range. */
export function isInRange(version: string, range: string): boolean;

/** The problem and its remedy if this version of Node.js cannot run the service; undefined if it can. */
export function nodeVersionError(): string | undefined;

/** Exits with 1 and a message on standard error if this version of Node.js cannot run the service. */
export function refuseOtherNode(): void;
