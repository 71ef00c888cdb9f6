/** Cached responses of operations; `rows` are those with existing rows, which no new row changes. */
export type CachedKind = 'responses' | 'rows';

/** All cached kinds. */
export const ALL_CACHED: readonly CachedKind[] = ['responses', 'rows'];

/** The version of each kind at one moment; undefined where commits cannot be observed. */
export type Versions = Readonly<Record<CachedKind, number | undefined>>;

/** Where no commit can be observed. */
export const NO_VERSIONS: Versions = { responses: undefined, rows: undefined };

/**
 * Knows whether anything was committed to the database since an earlier moment, by whichever process. What is cached
 * of the database is exact as long as this has not changed.
 */
export abstract class DataVersion {
  /** Maximum age of what is cached, in milliseconds, where a version does not show everything that a read may depend on. */
  readonly maxAgeMs: number = Infinity;

  /**
   * For each kind a number that differs after every commit that may change what is cached of it, from the moment at which the
   * commit is acknowledged; undefined where that is not known without a query. Ask before reading what is to be cached, so that a
   * commit in between invalidates it.
   */
  abstract versions(): Versions;

  /** The same as of a moment after this call, by a query where it takes one. Never rejects. */
  fresh(): Versions | Promise<Versions> {
    return this.versions();
  }
}

/** The version of a database that no other process can write to: the connection counts its own writes. */
export class OwnWritesVersion extends DataVersion {
  private writes = 0;

  versions(): Versions {
    const { writes } = this;
    return { responses: writes, rows: writes };
  }

  /** Notes a statement that may have written, before it is acknowledged. */
  note(): void {
    this.writes += 1;
  }
}
