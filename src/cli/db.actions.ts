import { shownDatabaseUrl } from '../core/config/database-url.js';
import { loadSettings } from '../core/config/settings.js';
import { openDataSource } from '../database/data-source.js';
import type { Database } from '../database/database.js';
import { DemoData } from '../database/demo-data.js';
import { migrate, schemaStatus } from '../database/schema.js';
import { type Call, action } from './action.js';
import { tellingOfNewFile } from './new-file.js';
import { ProgressLine } from './progress.js';
import { tableOf } from './table.js';

/** `petstore db migrate`. */
export const applyPending = action({
  runAlone: async ({ loadModules, tell }) => {
    await loadModules();
    return { applied: await withDatabase(migrate, tell) };
  },
  text: ({ applied }) =>
    applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`,
});

/** `petstore db status`. */
export const status = action({
  runAlone: async ({ loadModules, tell }) => {
    await loadModules();
    return withDatabase(schemaStatus, tell);
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

/** `petstore db seed`. */
export const seed = action({
  confirm: {
    // Pets that nobody sells would be shown to customers, among those that are real.
    when: () => loadSettings().nodeEnv === 'production',
    question: () =>
      `Add demo data to ${shownDatabaseUrl(loadSettings().databaseUrl)}, which is in production, where no command takes it away`,
  },
  run: async (app, { input: { count }, tell }: Call<{ count?: number }>) => {
    const progress = new ProgressLine(tell, undefined, QUIET_MS);
    const show = (done: number, of: number): void => progress.show({ phase: 'Adding', done, of });
    try {
      return { added: await app.get(DemoData).add(count, count === undefined ? undefined : show) };
    } finally {
      progress.end();
    }
  },
  text: ({ added }) => `Added ${added} rows of demo data.`,
});

/** Opens the database without migrating it, which starting the application would do. */
async function withDatabase<T>(
  work: (database: Database) => Promise<T>,
  tell: (text: string) => void,
): Promise<T> {
  const settings = loadSettings();
  const tellOfNewFile = tellingOfNewFile(settings);
  const dataSource = await openDataSource(settings, { isPatient: true });
  tellOfNewFile(tell);
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}
