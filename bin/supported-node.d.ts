/** The folder that the software was installed in. Throws where no folder above has a package.json, as when dist was copied alone. */
export function softwareFolder(): string;

/** The range of Node.js that package.json names, such as `^20.19.0 || >=24.0.0`. */
export function supportedNode(): string;

/** Whether a version such as `20.19.4` is in a range of `^1.2.3` and `>=1.2.3`, joined by `||`. Throws for a range of another form. */
export function isInRange(version: string, range: string): boolean;

/** What to do where this Node.js does not run the service, in a sentence; undefined where it does. */
export function nodeVersionError(): string | undefined;

/** Ends the process with 1, and a sentence on standard error, where this Node.js does not run the service. */
export function refuseOtherNode(): void;
