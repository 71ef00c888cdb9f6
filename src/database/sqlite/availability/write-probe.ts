import { OneAtATime } from '../../one-at-a-time.js';
import type { Transactions } from '../../transactions/transactions.js';
import type { SqliteAvailability } from './sqlite-availability.js';
import { MIN_FREE_BYTES, freeDiskBytes } from './sqlite-errors.js';

/** Interval between attempts to write while the database is not writable, in milliseconds. */
const PERIOD_MS = 1_000;
/** Size of an attempt, in bytes. */
const PROBE_BYTES = 65_536;

/**
 * Detects when a database becomes writable again. A request's successful write proves little, because a small one may fit where the next
 * does not. An attempt allocates 64 KiB and frees them in the same transaction, so the file does not grow. Returns a function that stops
 * it.
 */
export function probeWrites(
  file: string,
  availability: SqliteAvailability,
  transactions: Transactions,
): () => void {
  const attempts = new OneAtATime(async () => {
    try {
      if (availability.reason === undefined || freeDiskBytes(file) < MIN_FREE_BYTES) return;
      await transactions.uncached(async (manager) => {
        await manager.query('SAVEPOINT room');
        await manager.query('CREATE TABLE room_for_writes (bytes blob)');
        await manager.query(`INSERT INTO room_for_writes VALUES (zeroblob(${PROBE_BYTES}))`);
        await manager.query('ROLLBACK TO SAVEPOINT room');
        await manager.query('RELEASE SAVEPOINT room');
      });
      availability.writes.end();
    } catch {
      // The failure is already logged.
    }
  });
  const timer = setInterval(() => void attempts.run(), PERIOD_MS).unref();
  return () => clearInterval(timer);
}
