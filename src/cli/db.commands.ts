import { YES, command, flag, group, list, option } from './frame/command.js';

const actions = () => import('./db.actions.js');
const backupActions = () => import('./db-backup.actions.js');

/** `petstore db …` */
export const DB_COMMANDS = group('db', 'the database', [
  command('migrate', {
    description: 'run pending migrations',
    examples: ['db migrate'],
    run: async (call) => (await actions()).applyPending(call),
  }),
  command('status', {
    description: 'show the migrations that have run and those that are pending',
    examples: ['db status --json'],
    run: async (call) => (await actions()).status(call),
  }),
  command('seed', {
    description: 'add demo data',
    options: [option('--count <rows>', "rows per feature; default: each feature's own demo rows"), YES],
    examples: ['db seed', 'db seed --count 10000'],
    run: async (call) => (await actions()).seed(call),
  }),
  command('backup', {
    description: 'back up the database to a file and verify it; the service can keep running',
    argument: ['<file>', 'the backup; its folder must exist'],
    options: [flag('--overwrite', 'replace an existing file when the new backup is complete')],
    examples: ['db backup backups/petstore-2026-11-22.sqlite', 'db backup --overwrite backups/latest.sqlite'],
    run: async (call, file) => (await backupActions()).backup(call, file),
  }),
  command('restore', {
    description: 'verify a backup and replace the database with it; stop the service first',
    argument: ['<file>', 'the backup, which is not changed'],
    options: [YES],
    examples: ['db restore backups/petstore-2026-11-22.sqlite --yes'],
    run: async (call, file) => (await backupActions()).restoreBackup(call, file),
  }),
  command('copy', {
    description:
      'copy an SQLite file into an empty PostgreSQL database, completely or not at all; stop the service first',
    options: [
      option('--from <url>', 'the SQLite file, as sqlite:<file>, which is not changed'),
      option(
        '--to <url>',
        'the PostgreSQL database, in the form of DATABASE_URL; - reads it from standard input; the password can be in PGPASSWORD',
      ),
      list('--leave-out <tables>', 'tables to omit because no migration creates them, separated by commas'),
    ],
    examples: ['db copy --from sqlite:data/petstore.sqlite --to postgres://petstore@db.internal/petstore'],
    run: async (call) => (await import('./db-copy.action.js')).copy(call),
  }),
]);
