import { access, realpath } from 'node:fs/promises';
import { Connection } from './connection.js';

/**
 * Runs work on a connection to a file that cannot write, and leaves beside the file what was there before. A connection that only reads
 * creates the write-ahead log (`-wal`, `-shm`), but cannot remove it, as the last one to close does that can write.
 */
export async function readUntouched<T>(
  file: string,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  // SQLite follows links, and has the log beside the file itself.
  const log = `${await realpath(file)}-wal`;
  const existed = await exists(log);
  try {
    const connection = await Connection.open(file, 'read');
    try {
      return await work(connection);
    } finally {
      await connection.close();
    }
  } finally {
    // One that was there holds what a killed process wrote last, and is left.
    if (!existed && (await exists(log))) await removeLog(file).catch(() => undefined);
  }
}

/** SQLite removes the log when it gets the lock for it, which it does not while anybody else has the file open. */
async function removeLog(file: string): Promise<void> {
  const connection = await Connection.open(file, 'write');
  // SQLite opens the log with the first read.
  await connection.all('SELECT count(*) FROM sqlite_master').catch(() => undefined);
  await connection.close();
}

/** Whether there is a file, or what a link leads to. */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
