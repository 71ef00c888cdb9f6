import { setTimeout as pause } from 'node:timers/promises';
import { readDatabaseUrl, redactedDatabaseUrl } from '../core/config/database-url.js';
import type { Settings } from '../core/config/settings.js';
import { logEarly } from './early-log.js';

/** How long startup waits for PostgreSQL, in milliseconds. */
const WAIT_MS = 60_000;
/** Interval between attempts to connect, in milliseconds. */
const RETRY_MS = 1_000;
/** Exit code if PostgreSQL was unreachable: EX_TEMPFAIL of sysexits.h, so that a supervisor restarts the service. */
export const TRY_AGAIN = 75;

/** Thrown if PostgreSQL stays unreachable, so a later start may succeed without any change. */
export class DatabaseUnreachable extends Error {}

/**
 * Waits until PostgreSQL accepts a connection, or refuses it for a permanent reason such as a wrong password, which is then reported when
 * the database is opened. Throws DatabaseUnreachable after a minute. Returns immediately on SQLite.
 */
export async function waitForDatabase(
  { databaseUrl, databaseCa }: Pick<Settings, 'databaseUrl' | 'databaseCa'>,
  waitMs = WAIT_MS,
): Promise<void> {
  const address = readDatabaseUrl(databaseUrl);
  if (address?.kind !== 'postgres') return;
  const { openSession } = await import('../database/postgres/postgres-options.js');
  const { isUnreachable, openingFailure } = await import('../database/postgres/postgres-errors.js');
  const options = { address, sessionName: 'petstore start', ca: databaseCa, pool: 1, statementTimeoutMs: 0 };
  const until = performance.now() + waitMs;
  for (let attempts = 0; ; attempts += 1) {
    try {
      const session = await openSession(options);
      await session.end();
      return;
    } catch (error) {
      if (!isUnreachable(error)) return;
      const reason = `${redactedDatabaseUrl(databaseUrl)} cannot be reached: ${openingFailure(error)}`;
      if (performance.now() >= until) throw new DatabaseUnreachable(reason);
      if (attempts === 0) logEarly('warn', `${reason} The start retries for ${waitMs / 1_000} s.`);
      await pause(RETRY_MS);
    }
  }
}
