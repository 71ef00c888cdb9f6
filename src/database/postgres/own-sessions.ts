import type { Pool } from 'pg';

/**
 * Throws unless each connection has its own server session. A pooler in transaction mode (PgBouncer's `pool_mode`) shares a session between
 * several connections, so prepared statements would belong to another client, and session locks to none.
 */
export async function checkOwnSessions(pool: Pool): Promise<void> {
  const clients = [await pool.connect()];
  try {
    clients.push(await pool.connect());
    const sessions: number[] = [];
    // In sequence, because a pooler assigns a free session to the next connection.
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
