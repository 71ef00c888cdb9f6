import { fstatSync, openSync, readSync, statSync } from 'node:fs';
import { endianness } from 'node:os';
import type { WalIndex } from '../wal-index.js';

/** The first page begins with what SQLite writes at nearly every commit: counters, sizes, versions; in bytes. */
const HEADER_BYTES = 100;
/** Of the size of the file, which is put behind it, in bytes. */
const SIZE_BYTES = 8;
/** Within it, where changes are counted (https://www.sqlite.org/fileformat2.html, section 1.3). */
const CHANGES_AT = 24;
/** The header of the WAL index, twice, and the state of its checkpoint (walformat.html, section 2.1), in bytes. */
const INDEX_BYTES = 136;
/** Within it: page size (2 bytes), frames in the log, frames that are in the database, frames that are being copied there. */
const [PAGE_SIZE_AT, FRAMES_AT, COPIED_AT, COPYING_AT] = [14, 16, 96, 128] as const;
/** Within it: what readers note, which changes all the time, in bytes from and to. */
const [MARKS_FROM, MARKS_TO] = [100, 128] as const;
/** Least size of a WAL index, of which SQLite has all mapped, in bytes. */
const LEAST_INDEX_BYTES = 32_768;
const [WAL_HEADER_BYTES, FRAME_HEADER_BYTES] = [32, 24] as const;
/** What the header of the log and of its index have in common, other for each log that is begun anew: where, and in bytes. */
const [SALTS_IN_LOG_AT, SALTS_IN_INDEX_AT, SALTS_BYTES] = [16, 32, 8] as const;
const LITTLE = endianness() === 'LE';

interface Seen {
  /** The header of the database file, and its size. */
  readonly content: Buffer;
  /** The WAL index as it was before that was read. */
  readonly index: Buffer;
}

/**
 * Notices what is written over the files by anything but SQLite, such as `cp backup.sqlite store.sqlite`: the file is the same,
 * and what SQLite remembers of it is wrong. In WAL mode only a checkpoint writes to the database file, and says so in the
 * WAL index before it writes and after. What is written over with the same header is not noticed: an identical file, mostly.
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
   * What was written over, for the log, by the sizes of the log and of its index in bytes; undefined when nothing was, or when
   * it cannot be told just now.
   */
  fault(logBytes: bigint, indexBytes: bigint): string | undefined {
    // SQLite reads the index from memory: where the file has ended, the process ends with SIGBUS.
    if (indexBytes < LEAST_INDEX_BYTES) return `${this.file}-shm was cut`;
    const index = this.indexNow();
    if (!index) return undefined;
    if (this.isLogCut(logBytes, index)) return `${this.file}-wal was cut`;
    return this.isWrittenOver(index) ? `${this.file} was written over` : undefined;
  }

  /** Whether the log is shorter than its index says, or does not begin as that says: SQLite writes on behind what is gone. */
  private isLogCut(bytes: bigint, index: Buffer): boolean {
    const frames = number(index, FRAMES_AT);
    const written = LITTLE ? index.readUInt16LE(PAGE_SIZE_AT) : index.readUInt16BE(PAGE_SIZE_AT);
    // 65,536 does not fit and is written as 1.
    const least = WAL_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + (written === 1 ? 65_536 : written));
    if (frames === 0 || (bytes >= least && this.isLogOf(index))) return false;
    // It was measured before the index was read, and may have grown since; one that is begun anew says so before it is cut.
    const { size = 0 } = statSync(`${this.file}-wal`, { throwIfNoEntry: false }) ?? {};
    if (size >= least && this.isLogOf(index)) return false;
    const now = this.indexNow();
    return now !== undefined && number(now, FRAMES_AT) === frames && saltsOf(now).equals(saltsOf(index));
  }

  /** Whether the log begins as its index says; true as well when it cannot be read just now. */
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
    // Read before the content and after it: a checkpoint in between shows in one of them.
    const after = this.indexNow();
    if (!content || !after) return false;
    if (before && !before.content.equals(content)) {
      const isCheckpoint = !before.index.equals(after) || !isAtRest(after);
      if (!isCheckpoint || counts(before.content, content) < 0) return true;
    }
    this.before = { content, index };
    return false;
  }

  /** Zeros where the file is too short; undefined while it cannot be opened. It is never closed, as the WAL index is not. */
  private contentNow(): Buffer | undefined {
    try {
      this.descriptor ??= openSync(this.file, 'r');
      const content = Buffer.alloc(HEADER_BYTES + SIZE_BYTES);
      readSync(this.descriptor, content, 0, HEADER_BYTES, 0);
      content.writeDoubleBE(fstatSync(this.descriptor).size, HEADER_BYTES);
      return content;
    } catch {
      // Too many open files, for example: the next look tells.
      return undefined;
    }
  }

  private indexNow(): Buffer | undefined {
    const index = Buffer.alloc(INDEX_BYTES);
    return this.index.read(index) ? index.fill(0, MARKS_FROM, MARKS_TO) : undefined;
  }
}

/** How far SQLite has counted on from one content to the next: it counts up with what it writes, and never back. */
function counts(before: Buffer, now: Buffer): number {
  // It begins anew after 2^32.
  return (now.readUInt32BE(CHANGES_AT) - before.readUInt32BE(CHANGES_AT)) | 0;
}

function saltsOf(index: Buffer): Buffer {
  return index.subarray(SALTS_IN_INDEX_AT, SALTS_IN_INDEX_AT + SALTS_BYTES);
}

/** Whether no checkpoint is under way; one that was killed looks so until the next. */
function isAtRest(index: Buffer): boolean {
  return number(index, COPIED_AT) >= number(index, COPYING_AT);
}

function number(index: Buffer, at: number): number {
  return LITTLE ? index.readUInt32LE(at) : index.readUInt32BE(at);
}
