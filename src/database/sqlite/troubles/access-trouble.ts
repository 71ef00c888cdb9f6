import { Logger } from '@nestjs/common';
import { WriteTrouble } from '../../database.js';
import { messageOf, truerCode } from './sqlite-errors.js';

type Told = readonly [trouble: string, remedy: string];

/** What is wrong, in words that complete "cannot be written: …", and what to do, by SQLite's code. */
const TROUBLES: Readonly<Record<string, Told>> = {
  SQLITE_FULL: ['the disk is full', 'Make room on it'],
  SQLITE_IOERR: ['the disk fails', 'Look after it'],
  SQLITE_READONLY: ['it is read-only', 'Let the service write it'],
  SQLITE_CANTOPEN: ['it cannot be opened', 'Look after its folder and the number of open files'],
};
const LOCKED: Told = [
  'it is locked, by another process or a long write',
  'Let what has it locked end ("fuser -v" with the file shows the processes)',
];
/** The same for reads. ForeignLock watches the write lock only, so locks that reads meet are told of here. */
const READ_TROUBLES: Readonly<Record<string, Told>> = {
  ...TROUBLES,
  SQLITE_BUSY: LOCKED,
  SQLITE_LOCKED: LOCKED,
};
/** After this time without a refused read the trouble counts as over, in milliseconds. */
const QUIET_MS = 10_000;

/**
 * Whether the database can be written. The log gets a line for each change, not for each refused write: on a full disk there are
 * thousands.
 */
export class SqliteWriteTrouble extends WriteTrouble {
  private readonly logger = new Logger('Database');
  private code: string | undefined;
  /** The code that SQLite returned last; `code` may be more exact. */
  private said: string | undefined;

  /** `file` is how the log calls the database. */
  constructor(private readonly file: string) {
    super();
  }

  /** Why the database cannot be written at the moment, in words for a client; undefined while it can. */
  get reason(): string | undefined {
    const [trouble] = this.told ?? [];
    return trouble && `the database cannot be written to: ${trouble}`;
  }

  /** SQLite's code for what is wrong. */
  get current(): string | undefined {
    return this.code;
  }

  /** Notes the error of a write; returns whether it is trouble of this kind, which is in the log already. */
  note(code: string | undefined, error: unknown): boolean {
    if (code === undefined || !TROUBLES[code]) return false;
    const isNew = this.code === undefined;
    // The code is made more exact only when it changes: that takes a system call, and there may be thousands of refused writes.
    if (isNew || code !== this.said) this.code = truerCode(this.file, code);
    this.said = code;
    if (isNew && this.told)
      this.logger.error(
        `${this.file} cannot be written: ${this.told[0]} (${messageOf(error)}). ` +
          `Writes are refused with 503, reads go on. ${this.told[1]}; the service goes on by itself.`,
      );
    return true;
  }

  /** Notes that the database can be written again. */
  end(): void {
    if (this.code === undefined) return;
    this.code = undefined;
    this.logger.log(`${this.file} is written again`);
  }

  private get told(): readonly [trouble: string, remedy: string] | undefined {
    return TROUBLES[this.code ?? ''];
  }
}

/**
 * Whether reads are refused on the connections that only read. The log gets a line when that begins, and one when no read has been
 * refused for ten seconds: on a bad disk reads of some pages succeed and of others fail, so one success proves nothing.
 */
export class ReadTrouble {
  private readonly logger = new Logger('Database');
  private quiet: NodeJS.Timeout | undefined;

  /** `file` is how the log calls the database. */
  constructor(private readonly file: string) {}

  /** Notes the error of a read; returns whether it is trouble of this kind, which is in the log already. */
  note(code: string | undefined, error: unknown): boolean {
    if (code === undefined || !READ_TROUBLES[code]) return false;
    if (this.quiet) {
      this.quiet.refresh();
      return true;
    }
    const [trouble, remedy] = READ_TROUBLES[truerCode(this.file, code)] ?? LOCKED;
    this.logger.error(
      `${this.file} cannot be read: ${trouble} (${messageOf(error)}). ` +
        `Requests that meet this are refused with 503. ${remedy}; the service goes on by itself.`,
    );
    this.quiet = setTimeout(() => {
      this.quiet = undefined;
      this.logger.log(`No read of ${this.file} has been refused for ${QUIET_MS / 1_000} s`);
    }, QUIET_MS);
    // The timer alone must not keep the process running.
    this.quiet.unref();
    return true;
  }
}
