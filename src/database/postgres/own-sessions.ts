import type { Pool } from 'pg';

/**
 * Throws unless each connection has a session of the server for itself. A pooler in transaction mode (PgBouncer's `pool_mode`) hands
 * one session to several connections in turn: prepared statements would belong to another client, and the locks of a session to none.
 */
export async function checkOwnSessions(pool: Pool): Promise<void> {
  const clients = [await pool.connect()];
  try {
    clients.push(await pool.connect());
    const sessions: number[] = [];
    // One after the other: a pooler gives the session that is free again to the next that asks.
    for (const client of [...clients, ...clients]) {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      sessions.push(...rows.map(({ pid }) => pid));
    }
    const [first, second, ...again] = sessions;
    if (first === second || again[0] !== first || again[1] !== second)
      throw new Error(
        'a pooler in transaction mode is between the service and PostgreSQL, so that connections share sessions. ' +
          'Set DATABASE_URL to the server itself, or to a pool in session mode (PgBouncer: pool_mode = session)',
      );
  } finally {
    for (const client of clients) client.release();
  }
}
