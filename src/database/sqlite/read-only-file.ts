import { access, realpath } from 'node:fs/promises';
import { Connection } from './connection.js';

/**
 * Runs work on a read-only connection and leaves no new files, because such a connection creates the write-ahead log (`-wal`, `-shm`) but
 * cannot remove it when it closes.
 */
export async function withReadOnlyConnection<T>(
  file: string,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  // SQLite follows links, and keeps the log next to the file itself.
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
    // An existing log contains the last writes of a killed process.
    if (!existed && (await exists(log))) await removeLog(file).catch(() => undefined);
  }
}

/** On close, SQLite removes the log if no other process has the file open. */
async function removeLog(file: string): Promise<void> {
  const connection = await Connection.open(file, 'write');
  // SQLite opens the log with the first read.
  await connection.all('SELECT count(*) FROM sqlite_master').catch(() => undefined);
  await connection.close();
}

/** Whether a file exists, or the target of a link. */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
