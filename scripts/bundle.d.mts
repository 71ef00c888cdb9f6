/** The packages of which dist/bundle-for-tests has its own copy. */
export const PACKAGES_FOR_TESTS: readonly string[];

/** The installed packages with features for the service. */
export const FEATURE_PACKAGES: readonly string[];

/** The file below dist that stands for `petstore-service` or a part of it, such as `src/public.js`; undefined for anything else. */
export function fileOfService(id: string): string | undefined;

/** Writes dist/bundle-for-tests from dist/src; answers where the module is that exports everything by its name. */
export function bundleForTests(): Promise<string>;
