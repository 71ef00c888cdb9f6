/** What is cached of the database: the answers of operations, and the keys that requests carry. */
export type CachedKind = 'responses' | 'keys';

/** Everything that is cached. */
export const ALL_CACHED: readonly CachedKind[] = ['responses', 'keys'];

const NEW_ROWS = Symbol('what new rows change');

/**
 * Marks an entity of which it is cached that a row does not exist, besides responses: a new row then changes what is cached of
 * this kind.
 */
export function AbsenceCachedAs(kind: CachedKind): ClassDecorator {
  return Reflect.metadata(NEW_ROWS, kind);
}

/** What a new row of an entity changes of what is cached. It changes no row that is there. */
export function kindsWithNewRow(entity: unknown): readonly CachedKind[] {
  const kind = (typeof entity === 'function' ? Reflect.getMetadata(NEW_ROWS, entity) : undefined) as
    CachedKind | undefined;
  return kind === undefined ? ['responses'] : ['responses', kind];
}

/**
 * Tells whether anything was committed to the database since an earlier moment, by whichever process. What is cached
 * of the database is exact as long as this has not changed.
 */
export abstract class DataVersion {
  /**
   * A number that is another one after every commit that may change what is cached of this kind, from the moment at
   * which the commit is acknowledged; undefined where that cannot be told. Ask before reading what is to be cached: a
   * commit in between then makes it void.
   */
  abstract current(kind: CachedKind): number | undefined;

  /**
   * Within a transaction that has the write lock and has written: its commit, which comes next, changes only these kinds
   * of what is cached. Call `confirmCommit` when it has succeeded, and `withdraw` once it is over.
   */
  expectCommit(changes: readonly CachedKind[]): void {
    // Where it cannot be told apart it counts as a change of everything.
    void changes;
  }

  /** The commit that was expected is acknowledged: what does not show it tells nothing of other commits either. */
  confirmCommit(): void {
    // Where nothing is expected, nothing is missed.
  }

  /** Takes `expectCommit` back. */
  withdraw(): void {
    // See there.
  }
}

/** The state of a database that cannot tell it. */
export class UnknownDataVersion extends DataVersion {
  current(): undefined {
    return undefined;
  }
}

/** The state of a database that nobody else can write to: the connection counts its own writes. */
export class OwnWritesVersion extends DataVersion {
  private writes = 0;

  current(): number {
    return this.writes;
  }

  /** Notes a statement that may have written, before it is acknowledged. */
  note(): void {
    this.writes += 1;
  }
}
