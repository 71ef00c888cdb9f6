import { openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { Logger } from '@nestjs/common';
import { outsideOfSpans } from '../../core/tracing.js';
import { nextTick } from '../../core/turn.js';
import { ALL_CACHED, type CachedKind, DataVersion, NO_VERSIONS, type Versions } from '../data-version.js';
import { Outage } from '../outage.js';
import type { DatabaseFiles } from './availability/database-files.js';

const logger = new Logger('Database');

/** Both copies of the header of the WAL index (https://www.sqlite.org/walformat.html, section 2.1), in bytes. */
const HEADER_BYTES = 96;
/** Offset of the transaction counter in the header, in the machine's byte order. */
const CHANGE_COUNTER_AT = 8;
const LITTLE = endianness() === 'LE';

/** The counter after a commit of this process, and the cached kinds that the commit invalidates. */
interface Expected {
  readonly counter: number;
  readonly invalidates: readonly CachedKind[];
  /** Whether another process can commit first. */
  readonly isContended: boolean;
}

/**
 * The data version of an SQLite file in WAL mode, read from the header of its WAL index (`-shm`), which every commit of every process
 * changes before it is acknowledged. SQLite's own `PRAGMA data_version` takes about 75 µs on the thread pool; this takes about 2 µs. There
 * is no version until a commit of this process has proven that the header changes. The index is never closed, because closing any
 * descriptor of a file drops all POSIX locks of the process on it, including those of SQLite.
 */
export class WalDataVersion extends DataVersion {
  private lastHeader = Buffer.alloc(HEADER_BYTES);
  private currentHeader = Buffer.alloc(HEADER_BYTES);
  private currentVersions: Readonly<Record<CachedKind, number>> = { responses: 0, rows: 0 };
  /** The path of the index, and its descriptor once opened. */
  private index: string | undefined;
  private descriptor: number | undefined;
  private readonly outage = new Outage<string>({
    startMessage: (message) =>
      `${this.index} cannot be read (${message}). Until it can be read, nothing is cached, which is slower.`,
    endMessage: () => `${this.index} can be read again, and responses are cached.`,
    level: 'warn',
  });
  /** Whether a commit of this process has changed the header; `never` once a commit did not. */
  private headerState: 'unproven' | 'proven' | 'never' = 'unproven';
  /** Set while this process commits. */
  private expected: Expected | undefined;
  /** The versions for calls until the next read. */
  private next: Promise<Versions> | undefined;
  /** Whether a commit was observed that has the expected counter but may be another process's. */
  private isUnattributed = false;

  constructor(private readonly files: DatabaseFiles) {
    super();
  }

  /** Starts to read the index at this path. */
  watch(index: string): void {
    this.index = index;
    this.descriptor = undefined;
    this.headerState = 'unproven';
    this.incrementVersions(ALL_CACHED);
  }

  versions(): Versions {
    if (this.headerState !== 'proven') return NO_VERSIONS;
    // Once the files were replaced, other processes commit to other files and do not change this header.
    if (this.files.error || !this.refresh()) return NO_VERSIONS;
    if (!this.isUnattributed) return this.currentVersions;
    const versions: Record<CachedKind, number | undefined> = { ...this.currentVersions };
    for (const kind of this.othersThanExpected()) versions[kind] = undefined;
    return versions;
  }

  /** Calls share a read of the header, which takes place when the requests that are handled together have all come this far. */
  override fresh(): Promise<Versions> {
    return (this.next ??= outsideOfSpans(() => this.atNextTick()));
  }

  private async atNextTick(): Promise<Versions> {
    await nextTick();
    this.next = undefined;
    return this.versions();
  }

  /** Runs the commit of a transaction that has the write lock, has written, and invalidates only these cached kinds. */
  async committing(invalidates: readonly CachedKind[], commit: () => Promise<unknown>): Promise<void> {
    this.expect(invalidates, false);
    try {
      await commit();
      this.prove();
    } finally {
      // Count the commit before the expectation is dropped, because the next one may be of another process.
      this.refresh();
      this.expected = undefined;
    }
  }

  /**
   * Runs a statement that takes the write lock itself and commits; if it returns no rows, it has changed nothing. Until it has ended, its
   * commit cannot be distinguished from a commit of another process, so the kinds that it does not invalidate have no version.
   */
  async autocommitting<Row>(
    invalidates: readonly CachedKind[],
    statement: () => Promise<readonly Row[]>,
  ): Promise<readonly Row[]> {
    this.expect(invalidates, true);
    let hasCommitted = false;
    try {
      const rows = await statement();
      hasCommitted = rows.length > 0;
      return rows;
    } finally {
      this.refresh();
      const isOwn = hasCommitted && counterOf(this.lastHeader) === this.expected?.counter;
      if (this.isUnattributed && !isOwn) this.incrementVersions(this.othersThanExpected());
      this.isUnattributed = false;
      this.expected = undefined;
    }
  }

  private expect(invalidates: readonly CachedKind[], isContended: boolean): void {
    const isKnown = this.refresh();
    this.expected = isKnown
      ? { counter: counterOf(this.lastHeader) + 1, invalidates, isContended }
      : undefined;
  }

  private othersThanExpected(): readonly CachedKind[] {
    return ALL_CACHED.filter((kind) => !this.expected?.invalidates.includes(kind));
  }

  /** If a commit of this process does not change the version, commits of others would not either. */
  private prove(): void {
    const { expected } = this;
    if (!expected || this.headerState === 'never' || !this.refresh()) return;
    this.headerState = counterOf(this.lastHeader) === expected.counter - 1 ? 'never' : 'proven';
    if (this.headerState === 'never') logger.warn(HEADER_UNCHANGED);
  }

  /** Applies the commits since the last call to the versions; returns false if the header cannot be read. */
  private refresh(): boolean {
    if (!this.readHeader()) return false;
    if (this.currentHeader.equals(this.lastHeader)) return true;
    this.incrementVersions(this.observedChanges());
    [this.lastHeader, this.currentHeader] = [this.currentHeader, this.lastHeader];
    return true;
  }

  private readHeader(): boolean {
    if (this.index === undefined) return false;
    try {
      this.descriptor ??= openSync(this.index, 'r');
      const isWhole = readSync(this.descriptor, this.currentHeader, 0, HEADER_BYTES, 0) === HEADER_BYTES;
      this.outage.end();
      return isWhole;
    } catch (error) {
      // For example, too many open files, which is temporary.
      this.outage.note(() => String(error));
      return false;
    }
  }

  private incrementVersions(changed: readonly CachedKind[]): void {
    if (changed.length === 0) return;
    const versions = { ...this.currentVersions };
    for (const kind of changed) versions[kind] += 1;
    this.currentVersions = versions;
  }

  /** The copies of the header are equal once it is completely written; until then, any commit is assumed. */
  private observedChanges(): readonly CachedKind[] {
    const half = HEADER_BYTES / 2;
    const isExpected =
      this.expected !== undefined &&
      counterOf(this.currentHeader) === this.expected.counter &&
      counterOf(this.lastHeader) === this.expected.counter - 1 &&
      this.currentHeader.compare(this.currentHeader, half, HEADER_BYTES, 0, half) === 0;
    if (!this.expected || !isExpected) return ALL_CACHED;
    this.isUnattributed = this.expected.isContended;
    return this.expected.invalidates;
  }
}

const HEADER_UNCHANGED =
  'The WAL index of the database (its -shm file) did not change with a commit of this service. Nothing is cached from now ' +
  'on, which is slower. Restart the service. If this happens again, move the database to a local file system.';

function counterOf(header: Buffer): number {
  return LITTLE ? header.readUInt32LE(CHANGE_COUNTER_AT) : header.readUInt32BE(CHANGE_COUNTER_AT);
}
