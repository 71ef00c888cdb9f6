/** The packages of which dist/bundle-for-tests has its own copy. */
export const PACKAGES_FOR_TESTS: readonly string[];

/** Writes dist/bundle-for-tests from dist/src; answers where the module is that exports everything by its name. */
export function bundleForTests(): Promise<string>;
