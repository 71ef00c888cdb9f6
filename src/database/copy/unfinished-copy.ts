import type { Database } from '../database.js';
import { STATE_TABLE } from './copy-state.js';

/** Why a database cannot be used while a copy into it has not ended; undefined when there is none. */
export async function unfinishedCopy(database: Database): Promise<string | undefined> {
  if (database.options.type !== 'postgres') return undefined;
  const [row] = await database.query<{ isThere: boolean }[]>(
    `SELECT to_regclass('${STATE_TABLE}') IS NOT NULL AS "isThere"`,
  );
  if (row?.isThere !== true) return undefined;
  return (
    'The database holds a copy that is not whole, or not compared yet. Go on with "petstore db copy --from … --to … --resume", or copy into an ' +
    'empty database.'
  );
}

/** Throws an Error that says what to do while a copy into the database has not ended. */
export async function refuseUnfinishedCopy(database: Database): Promise<void> {
  const reason = await unfinishedCopy(database);
  if (reason !== undefined) throw new Error(reason);
}
