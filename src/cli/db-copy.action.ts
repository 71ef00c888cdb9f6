import { InvalidArgumentError } from 'commander';
import {
  POSTGRES_URL_ALLOWED,
  sqlitePathError,
  readDatabaseUrl,
  redactedDatabaseUrl,
} from '../core/config/database-url.js';
import { loadSettings } from '../core/config/settings.js';
import { type CopyReport, copyDatabase } from '../database/commands/copy.js';
import type { Call } from './frame/call.js';
import { Refusal } from '../core/refusal.js';
import { grouped, stoppable } from './frame/progress.js';
import { tableOf } from './frame/table.js';

/** `petstore db copy`: copies all data from the SQLite file to PostgreSQL. */
export async function copy(call: Call): Promise<void> {
  const { from = '', to: toOption = '', leaveOut = [] } = call.options;
  const { file, to } = addressesOf(from.trim(), (await call.secret(toOption, '--to')).trim());
  await call.shell.loadModules();
  const { databaseCa } = loadSettings();
  const target = { databaseUrl: to, databaseCa };
  const report = await stoppable(call.shell.writeError, (options) =>
    copyDatabase({ file, target, excludedTables: leaveOut, ...options }),
  );
  const result = { from: `sqlite:${file}`, to: redactedDatabaseUrl(to), ...report };
  await call.showChange(result, () => reportText(result));
}

/** Parses both URLs. Error messages never contain a password. */
function addressesOf(from: string, to: string): { readonly file: string; readonly to: string } {
  const [source, target] = [readDatabaseUrl(from), readDatabaseUrl(to)];
  const errors = [
    ...(source
      ? []
      : [
          `--from: ${sqlitePathError(from) ?? 'This must be sqlite:<file>, such as sqlite:data/petstore.sqlite.'}`,
        ]),
    ...(target ? [] : [`--to: This must be ${POSTGRES_URL_ALLOWED}.`]),
  ];
  if (!source || !target) throw new InvalidArgumentError(errors.join('\n'));
  const other = OTHER_WAYS[`${source.kind} to ${target.kind}`];
  if (other !== undefined)
    throw new Refusal(`This command does not copy from ${source.kind} to ${target.kind}. ${other}`);
  const file = source.kind === 'sqlite' ? source.file : '';
  if (file === ':memory:')
    throw new InvalidArgumentError('--from: A database in memory belongs to one process. Name a file.');
  return { file, to };
}

/** What to use instead of this command for other kinds of copies. */
const OTHER_WAYS: Readonly<Record<string, string>> = {
  'sqlite to sqlite': 'Use: petstore db backup <file>',
  'postgres to postgres':
    'Use: pg_dump --format=custom --file=store.dump, then pg_restore --no-owner --dbname=…',
  'postgres to sqlite':
    'Copying to SQLite is not supported. Keep the SQLite file, or make a dump of PostgreSQL (pg_dump).',
};

function reportText({
  from,
  to,
  rows,
  tables,
}: CopyReport & { readonly from: string; readonly to: string }): string {
  return [
    tableOf([
      ['TABLE', 'ROWS', 'LAST ID'],
      ...tables.map(({ name, rows: ofTable, lastId }) => [
        name,
        grouped(ofTable),
        lastId === null ? null : String(lastId),
      ]),
    ]),
    '',
    `Copied ${grouped(rows)} rows of ${tables.length} tables from ${from}.`,
    `Start the service with DATABASE_URL=${to}${to.includes('@') ? ' and its password' : ''}.`,
  ].join('\n');
}
