/** The file below dist that stands for `petstore-service` or a part of it, such as `src/public.js`; undefined for anything else. */
export function fileOfService(id: string): string | undefined;

/** Writes `bundle` of a folder such as dist, that of this project by default, from its `src`. */
export function bundle(dist?: string): Promise<void>;
