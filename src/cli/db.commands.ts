import { loadSettings } from '../config/settings.js';
import { openDataSource } from '../database/data-source.js';
import type { Database } from '../database/database.js';
import { DemoData } from '../database/demo-data.js';
import { migrate, schemaStatus } from '../database/schema.js';
import { checkDeclared } from '../declaration-faults.js';
import { type Call, command, group } from './command.js';
import { BACKUP_COMMAND, RESTORE_COMMAND } from './db-backup.commands.js';
import { COPY_COMMAND } from './db-copy.command.js';
import { option, positiveInteger } from './options.js';
import { ProgressLine } from './progress.js';
import { tableOf } from './table.js';

const applyPending = command({
  name: 'migrate',
  changes: true,
  description: 'bring the schema up to date; nothing happens when it is',
  examples: ['db migrate'],
  runAlone: async ({ loadModules }) => {
    await loadModules();
    checkDeclared();
    return { applied: await withDatabase(migrate) };
  },
  text: ({ applied }) =>
    applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`,
});

const status = command({
  name: 'status',
  description: 'show which migrations ran and which are pending; changes nothing',
  examples: ['db status --json'],
  runAlone: async ({ loadModules }) => {
    await loadModules();
    return withDatabase(schemaStatus);
  },
  text: (found) => {
    const states = ['applied', 'pending', 'unknown'] as const;
    const stateOf = (name: string, state: string) =>
      found.expansions.includes(name) ? 'of a newer version, expands only' : state;
    const rows = states.flatMap((state) => found[state].map((name) => [name, stateOf(name, state)]));
    return tableOf([['MIGRATION', 'STATE'], ...rows]);
  },
});

/** What takes longer shows how far it is, in milliseconds. */
const QUIET_MS = 1_000;

const seed = command({
  name: 'seed',
  changes: true,
  description: 'add demo data',
  options: [
    option('--count <rows>', 'how many rows of each feature; default: its demo set once', positiveInteger),
  ],
  examples: ['db seed', 'db seed --count 10000'],
  run: async (app, { input: { count }, tell }: Call<{ count?: number }>) => {
    const progress = new ProgressLine(tell, process.stderr.isTTY, QUIET_MS);
    const show = (done: number, of: number): void => progress.show({ phase: 'Adding', done, of });
    try {
      return { added: await app.get(DemoData).add(count, count === undefined ? undefined : show) };
    } finally {
      progress.end();
    }
  },
  text: ({ added }) => `Added ${added} rows of demo data.`,
});

/** `petstore db …`: the database. */
export const DB_COMMANDS = group('db', 'the database', [
  applyPending,
  status,
  seed,
  BACKUP_COMMAND,
  RESTORE_COMMAND,
  COPY_COMMAND,
]);

/** Opens the database without migrating it, which starting the application would do. */
async function withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const dataSource = await openDataSource(loadSettings(), { isPatient: true });
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}
