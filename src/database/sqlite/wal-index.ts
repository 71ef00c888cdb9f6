import { openSync, readSync } from 'node:fs';
import { Logger } from '@nestjs/common';

const logger = new Logger('Database');

/**
 * The WAL index (`-shm`) of an SQLite file, which all processes share as mapped memory
 * (https://www.sqlite.org/walformat.html, section 2). The file is never closed: closing any descriptor of a file drops all POSIX
 * locks that the process has on it, including those of SQLite.
 */
export class WalIndex {
  private descriptor: number | undefined;
  private isFailing = false;

  constructor(private readonly path: string) {}

  /** Fills a buffer from the beginning of the index; returns false if it cannot be read at the moment. */
  read(into: Buffer): boolean {
    try {
      this.descriptor ??= openSync(this.path, 'r');
      const isWhole = readSync(this.descriptor, into, 0, into.length, 0) === into.length;
      if (this.isFailing) logger.log(`${this.path} is read again, and answers are cached.`);
      this.isFailing = false;
      return isWhole;
    } catch (error) {
      // For example too many open files, which passes.
      if (!this.isFailing)
        logger.warn(
          `${this.path} cannot be read (${String(error)}). Until it can, every answer is read from the database, which is slower.`,
        );
      this.isFailing = true;
      return false;
    }
  }
}
