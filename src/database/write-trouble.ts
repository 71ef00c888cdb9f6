import { Logger } from '@nestjs/common';

/** What is wrong, in words that complete "cannot be written: …", and what to do, by SQLite's code. */
const TROUBLES: Readonly<Record<string, readonly [trouble: string, remedy: string]>> = {
  SQLITE_FULL: ['the disk is full', 'Make room on it'],
  SQLITE_IOERR: ['the disk fails', 'Look after it'],
  SQLITE_READONLY: ['it is read-only', 'Let the service write it'],
  SQLITE_CANTOPEN: ['it cannot be opened', 'Look after its folder and the number of open files'],
};

/**
 * Whether the database can be written. The log has one line when that begins to fail and one when it ends, not one for each
 * refused write: a full disk refuses thousands.
 */
export class WriteTrouble {
  private readonly logger = new Logger('Database');
  private code: string | undefined;

  /** `file` is the name of the database in the log. */
  constructor(private readonly file: string) {}

  /** Why nothing can be written at the moment, for a client; undefined while it can. */
  get reason(): string | undefined {
    const [trouble] = this.told ?? [];
    return trouble && `the database cannot be written to: ${trouble}`;
  }

  /** SQLite's code of what is wrong. */
  get current(): string | undefined {
    return this.code;
  }

  /** Notes SQLite's code of an error; answers whether it is such trouble, so that the caller need not log it. */
  note(code: string | undefined, error: unknown): boolean {
    const told = TROUBLES[code ?? ''];
    if (!told) return false;
    if (this.code === undefined) {
      const reason = error instanceof Error ? error.message : String(error);
      this.logger.error(
        `${this.file} cannot be written: ${told[0]} (${reason}). ` +
          `Writes are refused with 503, reads go on. ${told[1]}; the service goes on by itself.`,
      );
    }
    this.code = code;
    return true;
  }

  /** Notes that it can be written again. */
  end(): void {
    if (this.code === undefined) return;
    this.code = undefined;
    this.logger.log(`${this.file} is written again`);
  }

  private get told(): readonly [trouble: string, remedy: string] | undefined {
    return TROUBLES[this.code ?? ''];
  }
}
