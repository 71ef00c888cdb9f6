/** Kinds of cached responses; `rows` are responses that contain only existing rows, so that inserts do not change them. */
export type CachedKind = 'responses' | 'rows';

/** All cached kinds. */
export const ALL_CACHED: readonly CachedKind[] = ['responses', 'rows'];

/** The version of each kind at one moment; undefined where commits cannot be observed. */
export type Versions = Readonly<Record<CachedKind, number | undefined>>;

/** The versions if commits cannot be observed. */
export const NO_VERSIONS: Versions = { responses: undefined, rows: undefined };

/** Detects commits to the database by any process. Cached data is exact as long as its version has not changed. */
export abstract class DataVersion {
  /** Maximum age of cached data, in milliseconds, if a version does not cover everything that a read may depend on. */
  readonly maxAgeMs: number = Infinity;

  /**
   * For each kind, a number that changes before a commit that may invalidate it is acknowledged; undefined if that takes a query. Call it
   * before reading the data to cache, so that a commit in between invalidates it.
   */
  abstract versions(): Versions;

  /** The versions at a moment after this call, with a query if needed. Never rejects. */
  fresh(): Versions | Promise<Versions> {
    return this.versions();
  }
}

/** The version of a database that no other process writes to. It counts its own writes. */
export class OwnWritesVersion extends DataVersion {
  private writes = 0;

  versions(): Versions {
    const { writes } = this;
    return { responses: writes, rows: writes };
  }

  /** Counts a statement that may have written, before it is acknowledged. */
  note(): void {
    this.writes += 1;
  }
}
