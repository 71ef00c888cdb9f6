import { openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { ALL_REMEMBERED, CommittedState, type RememberedKind } from '../committed-state.js';

/** Both copies of the header of the WAL index (https://www.sqlite.org/walformat.html, section 2.1), in bytes. */
const HEADER_BYTES = 96;
/** Where the header counts transactions, in the byte order of the machine. */
const CHANGE_COUNTER_AT = 8;
const LITTLE = endianness() === 'LE';

/**
 * The state of an SQLite file in WAL mode, read from the header of its WAL index (`-shm`), which every commit of every
 * process changes before it is acknowledged. Asking SQLite itself (`PRAGMA data_version`) costs some 75 µs by way of the
 * thread pool; this costs some 2 µs.
 */
export class WalIndexState extends CommittedState {
  private seen = Buffer.alloc(HEADER_BYTES);
  private read = Buffer.alloc(HEADER_BYTES);
  private readonly versions: Record<RememberedKind, number> = { answers: 0, keys: 0 };
  /** Undefined before it is opened, null where there is no WAL index to open. */
  private descriptor: number | null | undefined;
  /** What the counter will be after our commit, and what that changes. Nobody commits before it: we have the write lock. */
  private expected: { readonly counter: number; readonly changes: readonly RememberedKind[] } | undefined;

  /** `file` is that of the database, which must be open and in WAL mode when it is first asked. */
  constructor(private readonly file: string) {
    super();
  }

  current(remembered: RememberedKind): number | undefined {
    return this.look() ? this.versions[remembered] : undefined;
  }

  override expectCommit(changes: readonly RememberedKind[]): void {
    if (this.look()) this.expected = { counter: counterOf(this.seen) + 1, changes };
  }

  override withdraw(): void {
    // Before it is forgotten: somebody else may commit next.
    this.look();
    this.expected = undefined;
  }

  /** Counts what was committed since the last look; false where there is nothing to look at. */
  private look(): boolean {
    if (this.descriptor === undefined) this.descriptor = openWalIndex(this.file);
    if (this.descriptor === null) return false;
    readSync(this.descriptor, this.read, 0, HEADER_BYTES, 0);
    if (this.read.equals(this.seen)) return true;
    for (const changed of this.changesSeen()) this.versions[changed] += 1;
    [this.seen, this.read] = [this.read, this.seen];
    return true;
  }

  /** Both copies tell the same once the header is written; in between it counts as any other commit. */
  private changesSeen(): readonly RememberedKind[] {
    const half = HEADER_BYTES / 2;
    const isExpected =
      this.expected !== undefined &&
      counterOf(this.read) === this.expected.counter &&
      counterOf(this.seen) === this.expected.counter - 1 &&
      this.read.compare(this.read, half, HEADER_BYTES, 0, half) === 0;
    return this.expected && isExpected ? this.expected.changes : ALL_REMEMBERED;
  }
}

function counterOf(header: Buffer): number {
  return LITTLE ? header.readUInt32LE(CHANGE_COUNTER_AT) : header.readUInt32BE(CHANGE_COUNTER_AT);
}

/**
 * Null on a file system that cannot have one: SQLite then keeps no write-ahead log, and nothing is remembered. It is never
 * closed: closing a file drops all POSIX locks of the process on it, and SQLite's own are on this one.
 */
function openWalIndex(file: string): number | null {
  try {
    return openSync(`${file}-shm`, 'r');
  } catch {
    return null;
  }
}
