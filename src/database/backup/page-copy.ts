import sqlite3 from 'sqlite3';

/** How many pages are copied at once; between two such steps a signal is heard, and progress is told. */
const STEP_PAGES = 500;

/** What sqlite3 has for SQLite's online backup and its types lack (https://sqlite.org/backup.html). */
export interface Backup {
  readonly remaining: number;
  readonly pageCount: number;
  readonly completed: boolean;
  step(pages: number, done: (error: Error | null) => void): void;
  finish(done: () => void): void;
}
/** A connection, with the function that its types lack. */
export type WithBackup = sqlite3.Database & {
  backup(file: string, done: (error: Error | null) => void): Backup;
};

/**
 * Copies all pages of the database that a connection reads into an empty file. While the connection is in a read transaction, they are
 * those of that one moment, and whoever writes to the database neither waits nor makes the copy begin again. `tell` is given the pages
 * that are copied and all of them, and throws to stop.
 */
export async function copyPages(
  connection: sqlite3.Database,
  file: string,
  tell: (done: number, of: number) => void,
): Promise<void> {
  const backup = await new Promise<Backup>((resolve, reject) => {
    const begun: Backup = (connection as WithBackup).backup(file, (error) => {
      if (error) reject(error);
      else resolve(begun);
    });
  });
  try {
    while (!backup.completed) {
      await new Promise<void>((resolve, reject) => {
        backup.step(STEP_PAGES, (error) => {
          if (error) reject(error);
          else resolve();
        });
      });
      tell(backup.pageCount - backup.remaining, backup.pageCount);
    }
  } finally {
    await new Promise<void>((resolve) => backup.finish(resolve));
  }
}
