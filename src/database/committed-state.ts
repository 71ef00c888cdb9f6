/**
 * Tells whether anything was committed to the database since an earlier moment, by whichever process. What is remembered
 * of the database is exact as long as this has not changed.
 */
export abstract class CommittedState {
  /**
   * A number that is another one after every commit, from the moment at which the commit is acknowledged; undefined where
   * that cannot be told. Ask before reading what is to be remembered: a commit in between then makes it void.
   */
  abstract current(): number | undefined;

  /**
   * Within a transaction that has the write lock and has written: its commit, which comes next, is not to count, because
   * it changes nothing that is remembered. Call `withdraw` once it is over.
   */
  expectQuietCommit(): void {
    // Where it cannot be told apart it counts like any other.
  }

  /** Takes `expectQuietCommit` back. */
  withdraw(): void {
    // See there.
  }
}

/** The state of a database that cannot tell it. */
export class UnknownState extends CommittedState {
  current(): undefined {
    return undefined;
  }
}

/** The state of a database that nobody else can write to: the connection counts its own writes. */
export class OwnWrites extends CommittedState {
  private writes = 0;

  current(): number {
    return this.writes;
  }

  /** Notes a statement that may have written, before it is acknowledged. */
  note(): void {
    this.writes += 1;
  }
}
