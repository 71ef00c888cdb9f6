import { YES, command, flag, group, list, option } from './frame/command.js';

const actions = () => import('./db.actions.js');
const backupActions = () => import('./db-backup.actions.js');

/** `petstore db …`: the database. */
export const DB_COMMANDS = group('db', 'the database', [
  command('migrate', {
    description: 'bring the schema up to date; does nothing if it already is',
    examples: ['db migrate'],
    run: async (call) => (await actions()).applyPending(call),
  }),
  command('status', {
    description: 'show which migrations ran and which are pending; changes nothing',
    examples: ['db status --json'],
    run: async (call) => (await actions()).status(call),
  }),
  command('seed', {
    description: 'add demo data',
    options: [option('--count <rows>', 'how many rows of each feature; default: its demo set once'), YES],
    examples: ['db seed', 'db seed --count 10000'],
    run: async (call) => (await actions()).seed(call),
  }),
  command('backup', {
    description:
      'back up the database into one file, even while the service writes to it, and check the copy',
    argument: ['<file>', 'the backup; its folder must exist'],
    options: [flag('--overwrite', 'replace a file of that name, once the new backup is complete')],
    examples: ['db backup backups/petstore-2026-11-22.sqlite', 'db backup --overwrite backups/latest.sqlite'],
    run: async (call, file) => (await backupActions()).backup(call, file),
  }),
  command('restore', {
    description: 'replace the database with a backup after checking it; stop the service first',
    argument: ['<file>', 'a backup; it is only read'],
    options: [YES],
    examples: ['db restore backups/petstore-2026-11-22.sqlite --yes'],
    run: async (call, file) => (await backupActions()).restoreBackup(call, file),
  }),
  command('copy', {
    description:
      'copy an SQLite file into an empty PostgreSQL database, completely or not at all; stop the service first',
    options: [
      option('--from <url>', 'the SQLite file, as sqlite:<file>; it is only read'),
      option(
        '--to <url>',
        'the PostgreSQL database, in the form of DATABASE_URL; - reads it from standard input, PGPASSWORD may hold its password',
      ),
      list(
        '--leave-out <tables>',
        'tables that no migration creates, separated by commas; they are not copied',
      ),
    ],
    examples: ['db copy --from sqlite:data/petstore.sqlite --to postgres://petstore@db.internal/petstore'],
    run: async (call) => (await import('./db-copy.action.js')).copy(call),
  }),
]);
