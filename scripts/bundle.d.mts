/** The file in dist that package.json exports as `petstore-service` or `petstore-service/…`, such as `src/public.js`; undefined for any other id. */
export function fileOfService(id: string): string | undefined;

/** Bundles `src` of a build folder, by default this project's dist, into `bundle` in the same folder. */
export function bundle(dist?: string): Promise<void>;
