import { openSync, readSync } from 'node:fs';
import { Logger } from '@nestjs/common';

const logger = new Logger('Database');

/**
 * The WAL index (`-shm`) of an SQLite file, which SQLite has in memory that all processes share
 * (https://www.sqlite.org/walformat.html, section 2). It is never closed: closing a file drops all POSIX locks of the process
 * on it, and SQLite's own are on this one.
 */
export class WalIndex {
  private descriptor: number | undefined;
  private isFailing = false;

  constructor(private readonly path: string) {}

  /** Fills a buffer from the beginning of the index; false while it cannot be read. Tries again each time. */
  read(into: Buffer): boolean {
    try {
      this.descriptor ??= openSync(this.path, 'r');
      const isWhole = readSync(this.descriptor, into, 0, into.length, 0) === into.length;
      if (this.isFailing) logger.log(`${this.path} is read again, and answers are cached.`);
      this.isFailing = false;
      return isWhole;
    } catch (error) {
      // Such as too many open files: it passes.
      if (!this.isFailing)
        logger.warn(
          `${this.path} cannot be read (${String(error)}). Until it can, every answer is read from the database, which is slower.`,
        );
      this.isFailing = true;
      return false;
    }
  }
}
