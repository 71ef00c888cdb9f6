import { redactedDatabaseUrl } from '../core/config/database-url.js';
import { loadSettings } from '../core/config/settings.js';
import { openDataSource } from '../database/data-source.js';
import type { Database } from '../database/database.js';
import { DemoData } from '../database/demo-data.js';
import { migrate, schemaStatus } from '../database/schema.js';
import { chooseDatabase } from './frame/application.js';
import type { Call } from './frame/call.js';
import { ProgressLine } from './frame/progress.js';
import { CountOption, inputOf } from './frame/service-calls.js';
import type { DatabaseUse } from './frame/shell.js';
import { tableOf } from './frame/table.js';

/** `petstore db migrate`. */
export async function applyPending(call: Call): Promise<void> {
  const applied = await withDatabase(call, 'write', migrate);
  await call.showChange({ applied }, () =>
    applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`,
  );
}

/** `petstore db status`. */
export async function status(call: Call): Promise<void> {
  const found = await withDatabase(call, 'read', schemaStatus);
  const stateOf = (name: string, state: string) =>
    found.expansions.includes(name) ? 'from a newer version, only expands' : state;
  const rows = (['applied', 'pending', 'unknown'] as const).flatMap((state) =>
    found[state].map((name) => [name, stateOf(name, state)]),
  );
  await call.show(found, () => tableOf([['MIGRATION', 'STATE'], ...rows]));
}

/** `petstore db seed`. */
export async function seed(call: Call): Promise<void> {
  const { count } = await inputOf(CountOption, call.options);
  const { nodeEnv, databaseUrl } = loadSettings();
  // Customers would see demo animals among real ones.
  if (nodeEnv === 'production')
    await call.confirm(
      `Add demo data, which no command can remove, to the production database ${redactedDatabaseUrl(databaseUrl)}`,
    );
  const app = await call.start('write');
  const progress = new ProgressLine(call.shell.writeError);
  const show = (done: number, of: number): void => progress.show({ phase: 'Adding', done, of });
  const added = await app.get(DemoData).add(count, count === undefined ? undefined : show);
  progress.end();
  await call.showChange({ added }, () => `Added ${added} rows of demo data.`);
}

/** Opens the database without migrating it, unlike application startup. */
async function withDatabase<T>(
  call: Call,
  use: DatabaseUse,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  await call.shell.loadModules();
  const notice = chooseDatabase(use);
  const dataSource = await openDataSource(loadSettings(), { isUnlimited: true });
  call.shell.writeError(notice);
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}
