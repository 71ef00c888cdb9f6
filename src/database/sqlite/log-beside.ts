import { access, realpath } from 'node:fs/promises';
import sqlite3 from 'sqlite3';

/**
 * The write-ahead log beside a file (`-wal`, `-shm`). A connection that only reads creates both, but cannot remove them, as the last one
 * to close does that can write.
 */
export class LogBeside {
  private constructor(
    private readonly file: string,
    private readonly wasThere: boolean,
  ) {}

  /** As it is before the file is opened; SQLite follows links, and has it beside the file itself. */
  static async of(file: string): Promise<LogBeside> {
    const real = await realpath(file);
    return new LogBeside(real, await isThere(`${real}-wal`));
  }

  /**
   * Has SQLite remove the log, if it came since. SQLite does so under a lock that it only gets when nobody else has the file open. A
   * log that was there holds what a killed process wrote last, and is left.
   */
  async restore(): Promise<void> {
    if (this.wasThere || !(await isThere(`${this.file}-wal`))) return;
    const connection = await new Promise<sqlite3.Database | undefined>((resolve) => {
      const opened: sqlite3.Database = new sqlite3.Database(this.file, sqlite3.OPEN_READWRITE, (error) =>
        resolve(error ? undefined : opened),
      );
    });
    if (!connection) return;
    // SQLite opens the log with the first read.
    await new Promise((resolve) => connection.all('SELECT count(*) FROM sqlite_master', resolve));
    await new Promise((resolve) => connection.close(resolve));
  }
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
