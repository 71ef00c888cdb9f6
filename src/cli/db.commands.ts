import { command, group } from './command.js';
import { flag, names, option, positiveInteger, required } from './options.js';

const actions = () => import('./db.actions.js');
const backupActions = () => import('./db-backup.actions.js');

const applyPending = command({
  name: 'migrate',
  changes: true,
  description: 'bring the schema up to date; nothing happens when it is',
  examples: ['db migrate'],
  action: async () => (await actions()).applyPending,
});

const status = command({
  name: 'status',
  description: 'show which migrations ran and which are pending; changes nothing',
  examples: ['db status --json'],
  action: async () => (await actions()).status,
});

const seed = command({
  name: 'seed',
  changes: true,
  asks: true,
  description: 'add demo data',
  options: [
    option('--count <rows>', 'how many rows of each feature; default: its demo set once', positiveInteger),
  ],
  examples: ['db seed', 'db seed --count 10000'],
  action: async () => (await actions()).seed,
});

const backup = command({
  name: 'backup',
  description: 'copy the database into one file, while the service runs and writes on, and check the copy',
  argument: ['<file>', 'the backup; its folder has to be there'],
  options: [flag('--overwrite', 'replace a file of that name, once the new backup is whole')],
  examples: ['db backup backups/petstore-2026-11-22.sqlite', 'db backup --overwrite backups/latest.sqlite'],
  action: async () => (await backupActions()).backup,
});

const restore = command({
  name: 'restore',
  description: 'replace the database by a backup, once that is checked; stop the service before',
  argument: ['<file>', 'a backup; it is only read'],
  changes: true,
  asks: true,
  examples: ['db restore backups/petstore-2026-11-22.sqlite --yes'],
  action: async () => (await backupActions()).restoreBackup,
});

const copy = command({
  name: 'copy',
  changes: true,
  description:
    'copy an SQLite file into an empty PostgreSQL database, and compare both; stop the service before',
  options: [
    required('--from <url>', 'the SQLite file, as sqlite:<file>; it is only read'),
    required(
      '--to <url>',
      'the PostgreSQL database, as DATABASE_URL has it; - reads it from standard input, PGPASSWORD may hold its password',
    ),
    flag('--resume', 'go on with a copy that was interrupted'),
    option(
      '--leave-out <tables>',
      'tables that no migration makes, separated by commas; they stay behind',
      names,
    ),
  ],
  examples: [
    'db copy --from sqlite:data/petstore.sqlite --to postgres://petstore@db.internal/petstore',
    'db copy --from sqlite:data/petstore.sqlite --to postgres://petstore@db.internal/petstore --resume',
  ],
  secret: { of: 'to', title: '--to' },
  action: async () => (await import('./db-copy.action.js')).copy,
});

/** `petstore db …`: the database. */
export const DB_COMMANDS = group('db', 'the database', [applyPending, status, seed, backup, restore, copy]);
