import { existsSync, statSync } from 'node:fs';
import { SystemClock } from '../core/time/clock.js';
import { readDatabaseUrl, redactedDatabaseUrl } from '../core/config/database-url.js';
import { loadSettings } from '../core/config/settings.js';
import { backUp } from '../database/commands/backup.js';
import { type RestoreResult, restore } from '../database/commands/restore.js';
import type { VerifiedCopy } from '../database/commands/verified-copy.js';
import type { Call } from './frame/call.js';
import { Refusal } from '../core/refusal.js';
import { grouped, stoppable } from './frame/progress.js';
import { shellWord } from '../core/shell-word.js';

const MEBIBYTE = 2 ** 20;

/** `petstore db backup`: copies the SQLite file, even while the service runs. */
export async function backup(call: Call, file: string): Promise<void> {
  const { overwrite = false } = call.options;
  const database = ownFile(POSTGRES_BACKUP);
  const copied = await stoppable(call.shell.writeError, ({ signal }) =>
    backUp({ database, file, overwrite, signal }),
  );
  await call.show(
    { database, file, ...copied },
    () => `Backed up ${database} to ${file}: ${sizeText(copied)}. The copy was verified.`,
  );
}

/** `petstore db restore`: replaces the SQLite file with a backup. */
export async function restoreBackup(call: Call, file: string): Promise<void> {
  const database = ownFile(POSTGRES_RESTORE);
  if (existsSync(database) && statSync(database).size > 0)
    await call.confirm(`Replace ${database} with ${file} and keep the current file next to it`);
  await call.shell.loadModules();
  const options = { file, database, now: new SystemClock().now() };
  const restored = await stoppable(call.shell.writeError, ({ signal }) => restore({ ...options, signal }));
  const result = { database, file, ...restored };
  await call.showChange(result, () => restoredText(result));
}

/** The SQLite file of DATABASE_URL. For any other database, throws Refusal and says what to do instead. */
function ownFile(onPostgres: (url: string, user?: string) => string): string {
  const { databaseUrl } = loadSettings();
  const address = readDatabaseUrl(databaseUrl);
  const shown = redactedDatabaseUrl(databaseUrl);
  if (address?.kind !== 'sqlite')
    throw new Refusal(
      `${shown} must be backed up and restored with PostgreSQL's own programs:\n${onPostgres(shown, address?.user)}`,
    );
  if (address.file === ':memory:')
    throw new Refusal('An in-memory database exists only within its process. Set DATABASE_URL to a file.');
  return address.file;
}

const POSTGRES_BACKUP = (url: string): string =>
  `  (umask 077 && pg_dump --format=custom --file=petstore.dump '${url}')\n` +
  'Store the password in ~/.pgpass, or set PGPASSWORD. The service can keep running.';
const POSTGRES_RESTORE = (url: string, user = ''): string =>
  `  createdb -E UTF8 -T template0 -O ${shellWord(user)} restored\n` +
  `  pg_restore --no-owner --exit-on-error --single-transaction --dbname='${url.replace(/^(\w+:\/\/[^/?]*\/)[^?]*/, '$1restored')}' petstore.dump\n` +
  'Then start the service with the DATABASE_URL of that database. docs/operations/backup.md describes each step.';

function restoredText({
  database,
  file,
  replaced,
  pending,
  ...store
}: RestoreResult & { readonly database: string; readonly file: string }): string {
  return [
    `Restored ${database} from ${file}: ${sizeText(store)}.`,
    ...(replaced === null ? [] : [`The previous file is kept as ${replaced}.`]),
    'Keys that were revoked and clients that were suspended after the backup work again. Revoke and suspend them again.',
    ...(replaced === null
      ? []
      : [`  DATABASE_URL=sqlite:${replaced} petstore audit list     shows the changes since`]),
    pending.length === 0
      ? 'Start the service.'
      : `It lacks migrations (${pending.join(', ')}): run "petstore db migrate", then start the service.`,
  ].join('\n');
}

function sizeText({ rows, tables, bytes }: VerifiedCopy): string {
  return `${grouped(rows)} rows of ${tables.length} tables, ${(bytes / MEBIBYTE).toFixed(1)} MiB`;
}
