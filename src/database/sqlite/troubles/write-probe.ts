import { OneAtATime } from '../../one-at-a-time.js';
import type { Transactions } from '../../transactions/transactions.js';
import type { DatabaseTroubles } from './database-troubles.js';
import { MIN_FREE_BYTES, freeDiskBytes } from './sqlite-errors.js';

/** Time between two attempts to write while the database cannot be written, in milliseconds. */
const PERIOD_MS = 1_000;
/** How much an attempt writes, in bytes. */
const PROBE_BYTES = 65_536;

/**
 * Finds out when a database that could not be written can be written again. A successful write of a request proves little: a small
 * one may fit where the next does not. An attempt takes 64 KiB and gives them back in the same transaction, so the file stays as
 * large as it is. Returns the function that stops it.
 */
export function probeWrites(
  file: string,
  troubles: DatabaseTroubles,
  transactions: Transactions,
): () => void {
  const attempts = new OneAtATime(async () => {
    try {
      if (troubles.reason === undefined || freeDiskBytes(file) < MIN_FREE_BYTES) return;
      await transactions.uncached(async (manager) => {
        await manager.query('SAVEPOINT room');
        await manager.query('CREATE TABLE room_for_writes (bytes blob)');
        await manager.query(`INSERT INTO room_for_writes VALUES (zeroblob(${PROBE_BYTES}))`);
        await manager.query('ROLLBACK TO SAVEPOINT room');
        await manager.query('RELEASE SAVEPOINT room');
      });
      troubles.writes.end();
    } catch {
      // It still cannot be written, which is in the log already.
    }
  });
  const timer = setInterval(() => void attempts.run(), PERIOD_MS).unref();
  return () => clearInterval(timer);
}
