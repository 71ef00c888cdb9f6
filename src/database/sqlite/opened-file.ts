import { statSync } from 'node:fs';
import { UnusableDatabase } from './troubles/sqlite-errors.js';

/**
 * Notices that another file got the name of a database while that was being opened, such as by a restore for whose lock SQLite waited:
 * SQLite then has the old file open, whose write-ahead log would lie beside the new one and be read as a part of it.
 */
export class OpenedFile {
  private readonly before: string | undefined;

  /** To be made before SQLite opens the file; one that is not there yet is not looked after. */
  constructor(private readonly file: string) {
    this.before = identityOf(file);
  }

  /**
   * To be called once SQLite has read the file: with a write-ahead log it then holds a lock with which no restore comes any more. Throws
   * UnusableDatabase when the file is another than before.
   */
  refuseReplaced(): void {
    if (this.before === undefined || this.before === identityOf(this.file)) return;
    throw new UnusableDatabase(`${this.file} was replaced while it was opened. Try again.`);
  }
}

/** Past all links; undefined where nothing is there. */
function identityOf(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}
