/**
 * Cached data of the database: the responses of operations (`rows` are those with existing rows, which no new row
 * changes), and the keys that requests carry.
 */
export type CachedKind = 'responses' | 'rows' | 'keys';

/** All cached kinds. */
export const ALL_CACHED: readonly CachedKind[] = ['responses', 'rows', 'keys'];

/** The version of each kind at one moment; undefined where commits cannot be observed. */
export interface Versions extends Readonly<Record<CachedKind, number | undefined>> {
  /** The version of the rows of one table alone, where commits show which tables they change. */
  readonly ofTable?: (table: string) => number | undefined;
}

/** Where no commit can be observed. */
export const NO_VERSIONS: Versions = { responses: undefined, rows: undefined, keys: undefined };

const CACHED_AS = Symbol('what rows are cached as');

interface CachedRows {
  readonly kind: CachedKind;
  readonly isAbsenceCached: boolean;
}

/**
 * Marks an entity whose rows are cached as this kind, besides in responses. With `isAbsenceCached` the cache also remembers a missing
 * row: then a new one changes what is cached.
 */
export function CachedAs(kind: CachedKind, { isAbsenceCached = false } = {}): ClassDecorator {
  return Reflect.metadata(CACHED_AS, { kind, isAbsenceCached } satisfies CachedRows);
}

/** Whether rows of an entity are cached as this kind. */
export function isCachedAs(entity: unknown, kind: CachedKind): boolean {
  return cachedRowsOf(entity)?.kind === kind;
}

/** The cached kinds that a new row of an entity changes. It changes no existing row. */
export function kindsWithNewRow(entity: unknown): readonly CachedKind[] {
  const cached = cachedRowsOf(entity);
  return cached?.isAbsenceCached ? ['responses', cached.kind] : ['responses'];
}

function cachedRowsOf(entity: unknown): CachedRows | undefined {
  return typeof entity === 'function'
    ? (Reflect.getMetadata(CACHED_AS, entity) as CachedRows | undefined)
    : undefined;
}

/**
 * Knows whether anything was committed to the database since an earlier moment, by whichever process. What is cached
 * of the database is exact as long as this has not changed.
 */
export abstract class DataVersion {
  /**
   * For each kind a number that differs after every commit that may change what is cached of it, from the moment at which the
   * commit is acknowledged; undefined where commits cannot be observed. Ask before reading what is to be cached, so that a
   * commit in between invalidates it.
   */
  abstract versions(): Versions;

  /** The version of one kind. */
  current(kind: CachedKind): number | undefined {
    return this.versions()[kind];
  }

  /** Whether `current` shows every commit of every process at once. Otherwise nobody may be refused because of it. */
  get isComplete(): boolean {
    return true;
  }

  /** Whether a cached entry is valid only for the version that came with the decision on the request's quota. */
  get isShared(): boolean {
    return false;
  }
}

/** The version of a database that no other process can write to: the connection counts its own writes. */
export class OwnWritesVersion extends DataVersion {
  private writes = 0;

  versions(): Versions {
    const { writes } = this;
    return { responses: writes, rows: writes, keys: writes };
  }

  /** Notes a statement that may have written, before it is acknowledged. */
  note(): void {
    this.writes += 1;
  }
}
