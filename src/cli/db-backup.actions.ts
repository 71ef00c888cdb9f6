import { existsSync, statSync } from 'node:fs';
import { SystemClock } from '../core/time/clock.js';
import { readDatabaseUrl, shownDatabaseUrl } from '../core/config/database-url.js';
import { loadSettings } from '../core/config/settings.js';
import { backUp } from '../database/backup/backup.js';
import { type Restored, restore } from '../database/backup/restore.js';
import type { CopiedStore } from '../database/backup/verified-copy.js';
import { type Call, action } from './action.js';
import { Refusal } from './refusal.js';
import { grouped } from './progress.js';
import { stoppable } from './stoppable.js';

const MEBIBYTE = 2 ** 20;

/** `petstore db backup`: a copy of the SQLite file, while it is served. */
export const backup = action({
  runAlone: async ({ argument: file, input: { overwrite }, tell }: Call<{ overwrite: boolean }>) => {
    const database = ownFile(POSTGRES_BACKUP);
    return {
      database,
      file,
      ...(await stoppable(tell, (how) => backUp({ database, file, overwrite, ...how }))),
    };
  },
  text: ({ database, file, rows, tables, bytes }) =>
    `Backed up ${database} to ${file}: ${sizeText({ rows, tables, bytes })}. The copy is sound.`,
});

/** `petstore db restore`: puts a backup into the place of the SQLite file. */
export const restoreBackup = action({
  confirm: {
    question: ({ argument: file }: Call<object>) => {
      const database = ownFile(POSTGRES_RESTORE);
      const isThere = existsSync(database) && statSync(database).size > 0;
      return isThere ? `Replace ${database} by ${file}; what is there is kept beside it` : undefined;
    },
  },
  runAlone: async ({ argument: file, loadModules, tell }: Call<object>) => {
    await loadModules();
    const database = ownFile(POSTGRES_RESTORE);
    const order = { file, database, now: new SystemClock().now() };
    return { database, file, ...(await stoppable(tell, (how) => restore({ ...order, ...how }))) };
  },
  text: restoredText,
});

/** The SQLite file that DATABASE_URL names. Throws Refusal for any other database, with what to do there. */
function ownFile(onPostgres: (url: string) => string): string {
  const { databaseUrl } = loadSettings();
  const address = readDatabaseUrl(databaseUrl);
  const shown = shownDatabaseUrl(databaseUrl);
  if (address?.kind !== 'sqlite')
    throw new Refusal(
      `${shown} is backed up and restored by PostgreSQL's own programs:\n${onPostgres(shown)}`,
    );
  if (address.file === ':memory:')
    throw new Refusal('A database in memory ends with its process. Name a file with DATABASE_URL.');
  return address.file;
}

const POSTGRES_BACKUP = (url: string): string =>
  `  pg_dump --format=custom --file=petstore.dump '${url}'\n` +
  'PGPASSWORD holds the password. The service may run and write on.';
const POSTGRES_RESTORE = (url: string): string =>
  '  createdb -E UTF8 -T template0 -O petstore restored\n' +
  `  pg_restore --no-owner --exit-on-error --single-transaction --dbname='${url.replace(/^(\w+:\/\/[^/?]*\/)[^?]*/, '$1restored')}' petstore.dump\n` +
  'Then start the service with the DATABASE_URL of that database. docs/operations/backup.md has it step by step.';

function restoredText({
  database,
  file,
  replaced,
  pending,
  ...store
}: Restored & { readonly database: string; readonly file: string }): string {
  return [
    `Restored ${database} from ${file}: ${sizeText(store)}.`,
    ...(replaced === null ? [] : [`What was there is kept as ${replaced}.`]),
    'Keys that were revoked and clients that were suspended after the backup work again: revoke and suspend them anew.',
    ...(replaced === null
      ? []
      : [`  DATABASE_URL=sqlite:${replaced} petstore audit list     shows what was changed since`]),
    pending.length === 0
      ? 'Start the service.'
      : `It lacks migrations (${pending.join(', ')}): run "petstore db migrate", then start the service.`,
  ].join('\n');
}

function sizeText({ rows, tables, bytes }: CopiedStore): string {
  return `${grouped(rows)} rows of ${tables.length} tables, ${(bytes / MEBIBYTE).toFixed(1)} MiB`;
}
