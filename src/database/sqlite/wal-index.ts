import { openSync, readSync } from 'node:fs';
import { Outage } from '../outage.js';

/**
 * The WAL index (`-shm`) of an SQLite file, which all processes share as mapped memory
 * (https://www.sqlite.org/walformat.html, section 2). The file is never closed: closing any descriptor of a file drops all POSIX
 * locks that the process has on it, including those of SQLite.
 */
export class WalIndex {
  private descriptor: number | undefined;
  private readonly outage: Outage<string>;

  constructor(private readonly path: string) {
    this.outage = new Outage({
      begun: (said) =>
        `${path} cannot be read (${said}). Until it can, every response is read from the database, which is slower.`,
      over: () => `${path} is read again, and responses are cached.`,
      level: 'warn',
    });
  }

  /** Fills a buffer from the beginning of the index; returns false if it cannot be read at the moment. */
  read(into: Buffer): boolean {
    try {
      this.descriptor ??= openSync(this.path, 'r');
      const isWhole = readSync(this.descriptor, into, 0, into.length, 0) === into.length;
      this.outage.end();
      return isWhole;
    } catch (error) {
      // For example too many open files, which passes.
      this.outage.note(() => String(error));
      return false;
    }
  }
}
