import type { DataSource } from 'typeorm';
import { openDataSource } from '../../database/data-source.js';
import type { Database } from '../../database/database.js';
import { migrate, schemaStatus } from '../../database/schema.js';
import { schemaDifference } from '../../database/schema-difference.js';
import type { Findings } from './checked-handlers.js';

/** Checks what entities declare of their columns. */
export function checkColumns({ entityMetadatas }: DataSource, { faults }: Findings): void {
  for (const { name, columns } of entityMetadatas)
    for (const { propertyPath, type, transformer, enum: values, default: fallback } of columns) {
      const fault = (text: string) => faults.push(`${name}.${propertyPath}: ${text}`);
      if (type === 'bigint' && transformer === undefined)
        fault('SQLite reads a bigint rounded. Use @Int64Column().');
      if (values && typeof fallback === 'string' && !values.includes(fallback))
        fault(`the default "${fallback}" is not one of its values ${values.join(', ')}.`);
    }
}

/** What entities have and no migration makes, in a database in which every migration has run. */
export async function checkMigrations(migrated: DataSource, { faults }: Findings): Promise<void> {
  const lacking = await lackingIn(migrated);
  if (lacking !== undefined)
    faults.push(
      `Entities have what no migration makes (${lacking}). ` +
        'Run `npm run migration:generate -- <feature>/<name>`. Entities of another DataSource are left to it when its forRoot() names ' +
        'their classes, or forFeature() has its name.',
    );
}

/** Checks the migrations in a database of its own, so that a file is not migrated by a start that is refused. */
export async function checkDeclaredMigrations(findings: Findings): Promise<void> {
  const database = await openDataSource({ databaseUrl: 'sqlite::memory:' });
  try {
    await migrate(database);
    await checkMigrations(database, findings);
  } catch {
    // A migration that fails, perhaps only without rows, is told of when it is run on the database that it is for.
  } finally {
    await database.destroy();
  }
}

/** What the migrations have made in a database, and something else has removed since. */
export async function checkSchema(database: Database, { faults }: Findings): Promise<void> {
  // What a newer build has added would be taken for a difference.
  if ((await schemaStatus(database)).unknown.length > 0) return;
  const lacking = await lackingIn(database);
  if (lacking !== undefined)
    faults.push(
      `The database lacks what its migrations make (${lacking}). ` +
        'Something else has changed it: restore a backup, or run this statement.',
    );
}

/** The first statement that would bring a database to what the entities declare; undefined when it lacks nothing. */
async function lackingIn(database: DataSource): Promise<string | undefined> {
  const { up } = await schemaDifference(database);
  // A table of SQLite is changed by making it anew: that statement tells more than those around it.
  const shown = up.find(({ query }) => query.startsWith('CREATE TABLE')) ?? up[0];
  if (!shown) return undefined;
  return `${shown.query}${up.length === 1 ? '' : `, and ${up.length - 1} more`}`;
}
