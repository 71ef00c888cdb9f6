/** The file below dist that stands for `petstore-service` or a part of it, such as `src/public.js`; undefined for anything else. */
export function fileOfService(id: string): string | undefined;
