import { endianness } from 'node:os';
import { Logger } from '@nestjs/common';
import { ALL_CACHED, type CachedKind, DataVersion } from '../data-version.js';
import type { DatabaseFiles } from './troubles/database-files.js';
import type { WalIndex } from './wal-index.js';

const logger = new Logger('Database');

/** Both copies of the header of the WAL index (https://www.sqlite.org/walformat.html, section 2.1), in bytes. */
const HEADER_BYTES = 96;
/** Where the header counts transactions, in the byte order of the machine. */
const CHANGE_COUNTER_AT = 8;
const LITTLE = endianness() === 'LE';

/** What the counter will be after our commit, and what that changes. */
interface Expected {
  readonly counter: number;
  readonly changes: readonly CachedKind[];
}

/**
 * The state of an SQLite file in WAL mode, read from the header of its WAL index (`-shm`), which every commit of every
 * process changes before it is acknowledged. Asking SQLite itself (`PRAGMA data_version`) costs some 75 µs by way of the
 * thread pool; this costs some 2 µs. It tells nothing before a commit of our own has proven that it moves.
 */
export class WalDataVersion extends DataVersion {
  private seen = Buffer.alloc(HEADER_BYTES);
  private read = Buffer.alloc(HEADER_BYTES);
  private readonly versions: Record<CachedKind, number> = { responses: 0, keys: 0 };
  private index: WalIndex | undefined;
  /** Whether a commit of ours has moved it; `never` once a commit did not. */
  private moves: 'unproven' | 'proven' | 'never' = 'unproven';
  /** Nobody commits before it: we have the write lock. */
  private expected: Expected | undefined;

  constructor(private readonly files: DatabaseFiles) {
    super();
  }

  /** Reads from this index from now on. */
  watch(index: WalIndex): void {
    this.index = index;
    this.moves = 'unproven';
    for (const kind of ALL_CACHED) this.versions[kind] += 1;
  }

  current(kind: CachedKind): number | undefined {
    if (this.moves !== 'proven') return undefined;
    // What is committed to other files than ours moves nothing here.
    if (this.files.fault || !this.look()) return undefined;
    return this.versions[kind];
  }

  override expectCommit(changes: readonly CachedKind[]): void {
    this.expected = this.look() ? { counter: counterOf(this.seen) + 1, changes } : undefined;
  }

  override confirmCommit(): void {
    const { expected } = this;
    if (!expected || this.moves === 'never' || !this.look()) return;
    this.moves = counterOf(this.seen) === expected.counter - 1 ? 'never' : 'proven';
    if (this.moves === 'never') logger.warn(STANDS_STILL);
  }

  override withdraw(): void {
    // Before it is forgotten: somebody else may commit next.
    this.look();
    this.expected = undefined;
  }

  /** Counts what was committed since the last look; false when there is nothing to look at. */
  private look(): boolean {
    if (!this.index?.read(this.read)) return false;
    if (this.read.equals(this.seen)) return true;
    for (const changed of this.changesSeen()) this.versions[changed] += 1;
    [this.seen, this.read] = [this.read, this.seen];
    return true;
  }

  /** Both copies tell the same once the header is written; in between it counts as any other commit. */
  private changesSeen(): readonly CachedKind[] {
    const half = HEADER_BYTES / 2;
    const isExpected =
      this.expected !== undefined &&
      counterOf(this.read) === this.expected.counter &&
      counterOf(this.seen) === this.expected.counter - 1 &&
      this.read.compare(this.read, half, HEADER_BYTES, 0, half) === 0;
    return this.expected && isExpected ? this.expected.changes : ALL_CACHED;
  }
}

const STANDS_STILL =
  'The WAL index of the database (its -shm file) did not change with a commit of this service. Nothing is cached any ' +
  'more, which is slower. Restart the service; if this comes again, move the database to a local file system.';

function counterOf(header: Buffer): number {
  return LITTLE ? header.readUInt32LE(CHANGE_COUNTER_AT) : header.readUInt32BE(CHANGE_COUNTER_AT);
}
