import { InvalidArgumentError } from 'commander';
import { POSTGRES_URL_ALLOWED, readDatabaseUrl, shownDatabaseUrl } from '../core/config/database-url.js';
import { loadSettings } from '../core/config/settings.js';
import { type CopyReport, copyDatabase } from '../database/copy/database-copy.js';
import { type Call, action } from './action.js';
import { Refusal } from './refusal.js';
import { grouped } from './progress.js';
import { stoppable } from './stoppable.js';
import { tableOf } from './table.js';

interface Input {
  readonly file: string;
  readonly to: string;
  readonly resume: boolean;
  readonly leaveOut: readonly string[];
}

/** `petstore db copy`: moves a store from its SQLite file to PostgreSQL. */
export const copy = action({
  input: ({ from, to, resume, leaveOut = [] }) =>
    inputOf(String(from).trim(), String(to).trim(), { resume, leaveOut } as never),
  runAlone: async ({ loadModules, input, tell }: Call<Input>) => {
    await loadModules();
    const { file, to, resume, leaveOut } = input;
    const { databaseCa } = loadSettings();
    const report = await stoppable(tell, (how) =>
      copyDatabase({
        file,
        target: { databaseUrl: to, databaseCa },
        isResumed: resume,
        leftOut: leaveOut,
        signal: how.signal,
        tell: ({ phase, rows, of }) => how.tell({ phase, done: rows, of }),
      }),
    );
    return { from: `sqlite:${file}`, to: shownDatabaseUrl(to), ...report };
  },
  text: reportText,
});

/** Reads both URLs. What is said of them never has a password. */
function inputOf(from: string, to: string, { resume, leaveOut }: Pick<Input, 'resume' | 'leaveOut'>): Input {
  const [source, target] = [readDatabaseUrl(from), readDatabaseUrl(to)];
  const faults = [
    ...(source ? [] : ['--from: This must be sqlite:<file>, such as sqlite:data/petstore.sqlite.']),
    ...(target ? [] : [`--to: This must be ${POSTGRES_URL_ALLOWED}.`]),
  ];
  if (!source || !target) throw new InvalidArgumentError(faults.join('\n'));
  const other = OTHER_WAYS[`${source.kind} to ${target.kind}`];
  if (other !== undefined)
    throw new Refusal(`From ${source.kind} to ${target.kind} nothing is copied here. ${other}`);
  const file = source.kind === 'sqlite' ? source.file : '';
  if (file === ':memory:')
    throw new InvalidArgumentError('--from: A database in memory is that of one process alone. Name a file.');
  return { file, to, resume, leaveOut };
}

/** What to do instead of what this command does not. */
const OTHER_WAYS: Readonly<Record<string, string>> = {
  'sqlite to sqlite': 'Use: petstore db backup <file>',
  'postgres to postgres':
    'Use: pg_dump --format=custom --file=store.dump, then pg_restore --no-owner --dbname=…',
  'postgres to sqlite':
    'A store that has outgrown its file does not go back by one command; keep the SQLite file, or a dump of PostgreSQL (pg_dump).',
};

function reportText({
  from,
  to,
  rows,
  tables,
}: CopyReport & { readonly from: string; readonly to: string }): string {
  return [
    tableOf([
      ['TABLE', 'ROWS', 'CHECKSUM', 'LAST ID'],
      ...tables.map(({ name, rows: ofTable, checksum, lastId }) => [
        name,
        grouped(ofTable),
        checksum,
        lastId === null ? null : String(lastId),
      ]),
    ]),
    '',
    `Copied ${grouped(rows)} rows of ${tables.length} tables from ${from}, and found the same in both.`,
    `Start the service with DATABASE_URL=${to}${to.includes('@') ? ' and its password' : ''}.`,
  ].join('\n');
}
