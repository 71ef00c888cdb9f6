const VERSION = /^\/v(\d[\w.-]*)(?:\/|$)/;

/** The version at the beginning of a path, such as the 2 of `/v2/pets`, as Nest puts it there; undefined without one. */
export function versionOf(path: string): string | undefined {
  return VERSION.exec(path)?.[1];
}
