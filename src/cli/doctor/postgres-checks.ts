import { redactedDatabaseUrl } from '../../core/config/database-url.js';
import type { Settings } from '../../core/config/settings.js';
import { MIGRATIONS_TABLE } from '../../database/data-source.js';
import type { Database } from '../../database/database.js';
import { refusalFor } from '../../throttling/memory/sole-process-lock.js';
import { fail, skip } from './finding.js';

/** State of the PostgreSQL server and of the user of DATABASE_URL. */
interface Server {
  readonly version: string;
  readonly reads: boolean;
  readonly canCreate: boolean;
  /** A table of the service that the user cannot read or write; null if there is none. */
  readonly closed: string | null;
  readonly free: string;
}

/** The limits of connections apply to the server (minus those reserved for superusers), the user and the database. */
const FREE_CONNECTIONS = `(SELECT least(
    current_setting('max_connections')::int - (SELECT sum(numbackends) FROM pg_stat_database)
      - CASE WHEN rolsuper THEN 0 ELSE current_setting('superuser_reserved_connections')::int END,
    CASE WHEN rolconnlimit >= 0 AND NOT rolsuper
      THEN rolconnlimit - (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user) END,
    CASE WHEN datconnlimit >= 0 AND NOT rolsuper
      THEN datconnlimit - (SELECT sum(numbackends) FROM pg_stat_database WHERE datname = current_database()) END)
  FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database())`;

/** The first of the tables named in $1 on which a privilege is missing. */
const CLOSED_TABLE = `(SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND c.relname = ANY($1)
    AND NOT (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
      AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))
  ORDER BY c.relname LIMIT 1)`;

/** Checks that PostgreSQL accepts this user's writes, and how many connections are free. */
export async function serverText(
  database: Database,
  { databaseUrl, databasePool }: Settings,
): Promise<string> {
  const shown = redactedDatabaseUrl(databaseUrl);
  const server = await readServer(database).catch((error: Error) => {
    throw new Error(`${shown}: ${error.message}`);
  });
  const name = `${shown} (PostgreSQL ${server?.version})`;
  const problem = errorOf(server, databasePool);
  if (problem !== undefined) throw new Error(`${name}: ${problem}`);
  return `${name} accepts writes, and has ${server?.free} connections free`;
}

/** Checks that a process with these settings may run alongside the instances that use the database now. */
export async function instancesText(
  { instanceSession }: Database,
  { redisUrl, redisCa }: Settings,
): Promise<string> {
  if (!instanceSession) skip('the database is not PostgreSQL');
  const serving = redisUrl === null ? 'alone' : 'among others';
  const refusal = await refusalFor(instanceSession, serving, async () => {
    // The check of Redis reports why Redis cannot be reached.
    if (redisUrl === null) return undefined;
    const { checkRedis } = await import('../../throttling/redis/check-redis.js');
    return checkRedis({ url: redisUrl, ca: redisCa }).then(
      ({ countsIn }) => countsIn,
      () => undefined,
    );
  });
  if (refusal !== undefined) fail(refusal);
  return (await instanceSession.served()) === undefined
    ? 'no process serves this database'
    : 'a process serves this database';
}

async function readServer(database: Database): Promise<Server | undefined> {
  const tables = [MIGRATIONS_TABLE, ...database.entityMetadatas.map(({ tableName }) => tableName)];
  const [server] = await database.query<Server[]>(
    `SELECT current_setting('server_version') AS version,
       pg_is_in_recovery() OR current_setting('transaction_read_only')::bool AS reads,
       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "canCreate",
       ${CLOSED_TABLE} AS closed,
       ${FREE_CONNECTIONS} AS free`,
    [tables],
  );
  return server;
}

function errorOf(server: Server | undefined, pool: number): string | undefined {
  if (server?.reads === true) return 'the server is read-only. Set DATABASE_URL to the primary server.';
  if (server?.canCreate !== true)
    return 'the user has no permission to create tables, which migrations require. Make it the owner: ALTER DATABASE <name> OWNER TO <user>.';
  if (server.closed !== null)
    return (
      `the user has no permission to read and write the table ${server.closed}, which another user owns. ` +
      'Use that user in DATABASE_URL, or transfer the tables: REASSIGN OWNED BY <owner> TO <user>.'
    );
  const free = Number(server.free);
  if (free < pool)
    return (
      `${free} connections are free, and DATABASE_POOL is ${pool}. Lower DATABASE_POOL, or raise max_connections ` +
      'or the CONNECTION LIMIT of the user or the database.'
    );
  return undefined;
}
