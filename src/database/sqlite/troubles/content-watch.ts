import { fstatSync, openSync, readSync, statSync } from 'node:fs';
import { endianness } from 'node:os';
import type { WalIndex } from '../wal-index.js';

/** Length of the database header, in bytes. SQLite changes it at nearly every commit: counters, sizes, versions. */
const HEADER_BYTES = 100;
/** Length of the file size that is appended to the header here, in bytes. */
const SIZE_BYTES = 8;
/** Offset in the header of the counter of changes (https://www.sqlite.org/fileformat2.html, section 1.3). */
const CHANGES_AT = 24;
/** Length of both copies of the WAL index's header and of its checkpoint state (walformat.html, section 2.1), in bytes. */
const INDEX_BYTES = 136;
/** Offsets in it: page size (2 bytes), frames in the log, frames copied to the database, frames that are being copied. */
const [PAGE_SIZE_AT, FRAMES_AT, COPIED_AT, COPYING_AT] = [14, 16, 96, 128] as const;
/** Offsets in it of the read marks, which change all the time: first, and first behind them. */
const [MARKS_FROM, MARKS_TO] = [100, 128] as const;
/** Least size of a WAL index, in bytes; SQLite has all of it mapped into memory. */
const LEAST_INDEX_BYTES = 32_768;
const [WAL_HEADER_BYTES, FRAME_HEADER_BYTES] = [32, 24] as const;
/** The salts, which the headers of the log and of its index share and which change when the log restarts: offsets and length. */
const [SALTS_IN_LOG_AT, SALTS_IN_INDEX_AT, SALTS_BYTES] = [16, 32, 8] as const;
const LITTLE = endianness() === 'LE';

interface Seen {
  /** The header of the database file, and its size. */
  readonly content: Buffer;
  /** The WAL index as it was before the content was read. */
  readonly index: Buffer;
}

/**
 * Detects when another program than SQLite overwrites the files, such as `cp backup.sqlite store.sqlite`: the inode stays the same,
 * and what SQLite has cached of the file is wrong. In WAL mode only a checkpoint writes to the database file, and it changes the
 * WAL index before and after. A file that is overwritten with the same header is not detected; mostly that is an identical file.
 */
export class ContentWatch {
  private descriptor: number | undefined;
  private log: number | undefined;
  private before: Seen | undefined;

  constructor(
    private readonly file: string,
    private readonly index: WalIndex,
  ) {}

  /**
   * What was overwritten or cut, in words for the log, given the sizes of the write-ahead log and of its index in bytes; undefined
   * if nothing was, or if that cannot be found out at the moment.
   */
  fault(logBytes: bigint, indexBytes: bigint): string | undefined {
    // SQLite reads the index through a memory map: a read behind the end of the file ends the process with SIGBUS.
    if (indexBytes < LEAST_INDEX_BYTES) return `${this.file}-shm was cut`;
    const index = this.indexNow();
    if (!index) return undefined;
    if (this.isLogCut(logBytes, index)) return `${this.file}-wal was cut`;
    return this.isWrittenOver(index) ? `${this.file} was written over` : undefined;
  }

  /** Whether the log is shorter than its index says or has other salts: SQLite would go on writing behind the missing part. */
  private isLogCut(bytes: bigint, index: Buffer): boolean {
    const frames = number(index, FRAMES_AT);
    const written = LITTLE ? index.readUInt16LE(PAGE_SIZE_AT) : index.readUInt16BE(PAGE_SIZE_AT);
    // A page size of 65,536 does not fit in two bytes and is stored as 1.
    const least = WAL_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + (written === 1 ? 65_536 : written));
    if (frames === 0 || (bytes >= least && this.isLogOf(index))) return false;
    // The size was taken before the index was read, so look again: the log may have grown. When SQLite restarts the log, it changes
    // the index first.
    const { size = 0 } = statSync(`${this.file}-wal`, { throwIfNoEntry: false }) ?? {};
    if (size >= least && this.isLogOf(index)) return false;
    const now = this.indexNow();
    return now !== undefined && number(now, FRAMES_AT) === frames && saltsOf(now).equals(saltsOf(index));
  }

  /** Whether the log has the salts of its index; true as well if it cannot be read at the moment. */
  private isLogOf(index: Buffer): boolean {
    try {
      this.log ??= openSync(`${this.file}-wal`, 'r');
      const salts = Buffer.alloc(SALTS_BYTES);
      readSync(this.log, salts, 0, SALTS_BYTES, SALTS_IN_LOG_AT);
      return salts.equals(saltsOf(index));
    } catch {
      return true;
    }
  }

  private isWrittenOver(index: Buffer): boolean {
    const { before } = this;
    const content = this.contentNow();
    // The index is read before and after the content: a checkpoint in between shows in one of the two.
    const after = this.indexNow();
    if (!content || !after) return false;
    if (before && !before.content.equals(content)) {
      const isCheckpoint = !before.index.equals(after) || !isAtRest(after);
      if (!isCheckpoint || counts(before.content, content) < 0) return true;
    }
    this.before = { content, index };
    return false;
  }

  /** Header and size, with zeros if the file is too short; undefined while it cannot be opened. Never closed: see WalIndex. */
  private contentNow(): Buffer | undefined {
    try {
      this.descriptor ??= openSync(this.file, 'r');
      const content = Buffer.alloc(HEADER_BYTES + SIZE_BYTES);
      readSync(this.descriptor, content, 0, HEADER_BYTES, 0);
      content.writeDoubleBE(fstatSync(this.descriptor).size, HEADER_BYTES);
      return content;
    } catch {
      // For example too many open files; the next check tries again.
      return undefined;
    }
  }

  private indexNow(): Buffer | undefined {
    const index = Buffer.alloc(INDEX_BYTES);
    return this.index.read(index) ? index.fill(0, MARKS_FROM, MARKS_TO) : undefined;
  }
}

/** By how much SQLite's counter of changes has grown between two contents; SQLite never decreases it. */
function counts(before: Buffer, now: Buffer): number {
  // The counter wraps around at 2^32.
  return (now.readUInt32BE(CHANGES_AT) - before.readUInt32BE(CHANGES_AT)) | 0;
}

function saltsOf(index: Buffer): Buffer {
  return index.subarray(SALTS_IN_INDEX_AT, SALTS_IN_INDEX_AT + SALTS_BYTES);
}

/** Whether no checkpoint is running. After one that was killed, the index looks as if it were running until the next one. */
function isAtRest(index: Buffer): boolean {
  return number(index, COPIED_AT) >= number(index, COPYING_AT);
}

function number(index: Buffer, at: number): number {
  return LITTLE ? index.readUInt32LE(at) : index.readUInt32BE(at);
}
