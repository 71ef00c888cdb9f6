import type { DataSource } from 'typeorm';
import { declarationFault } from '../core/declaration-faults.js';
import { openDataSource } from '../database/data-source.js';
import type { Database } from '../database/database.js';
import { migrate, schemaDifference, schemaStatus } from '../database/schema.js';

/** Throws DeclarationError for a column that cannot work. */
export function checkColumns({ entityMetadatas }: DataSource): void {
  for (const { name, columns } of entityMetadatas)
    for (const { propertyPath, type, transformer, enum: values, default: fallback } of columns) {
      if ((type === 'bigint' || type === 'int8') && transformer === undefined)
        declarationFault(
          `${name}.${propertyPath}: without a transformer a ${type} is read as text. Use @Int64Column().`,
        );
      if (values && typeof fallback === 'string' && !values.includes(fallback))
        declarationFault(
          `${name}.${propertyPath}: the default "${fallback}" is not one of its values ${values.join(', ')}.`,
        );
    }
}

/** Throws DeclarationError when entities differ from a database in which every migration has run. */
export async function checkMigrations(migrated: DataSource): Promise<void> {
  const lacking = await lackingIn(migrated);
  if (lacking !== undefined)
    declarationFault(
      `Entities have tables or columns that no migration creates (${lacking.what}). ` +
        'Run `npm run migration:generate -- <feature>/<name>`. Entities of another DataSource are left to it when its forRoot() names ' +
        'their classes, or forFeature() has its name.',
    );
}

/** As checkMigrations(), in a database made for this, so that a file is not migrated by a start that is refused. */
export async function checkDeclaredMigrations(): Promise<void> {
  const database = await openDataSource({ databaseUrl: 'sqlite::memory:' });
  try {
    // A migration that fails, perhaps only without rows, is reported when it runs on its own database.
    const isMigrated = await migrate(database).then(
      () => true,
      () => false,
    );
    if (isMigrated) await checkMigrations(database);
  } finally {
    await database.destroy();
  }
}

/** Throws DeclarationError when a database lacks tables or columns that its migrations have created. */
export async function checkSchema(database: Database): Promise<void> {
  // Additions of a newer build would count as differences.
  if ((await schemaStatus(database)).unknown.length > 0) return;
  const lacking = await lackingIn(database);
  if (lacking !== undefined)
    declarationFault(
      `The database lacks tables or columns that its migrations create (${lacking.what}). ` +
        `Something else has changed it: restore a backup, or ${lacking.remedy}.`,
    );
}

/** How a database differs from what the entities declare, and what would change it; undefined when it lacks nothing. */
async function lackingIn(
  database: DataSource,
): Promise<{ readonly what: string; readonly remedy: string } | undefined> {
  const missing = await schemaDifference(database);
  if (missing.length === 0) return undefined;
  // SQLite changes a column by copying its table, in statements that do not show which column it is.
  const columns = await differingColumns(database);
  if (columns.length > 0) return { what: columns.join(', '), remedy: 'undo that change' };
  const shown = missing.find((query) => query.startsWith('CREATE TABLE')) ?? missing[0];
  const more = missing.length === 1 ? '' : `, and ${missing.length - 1} more`;
  return { what: `${shown}${more}`, remedy: 'run this statement' };
}

/** The columns, such as `toys.colour`, that a table lacks or has with another type or default. */
async function differingColumns(database: DataSource): Promise<string[]> {
  const { driver, entityMetadatas } = database;
  const runner = database.createQueryRunner();
  try {
    const names: string[] = [];
    for (const { tablePath, synchronize, columns } of entityMetadatas) {
      const table = synchronize ? await runner.getTable(tablePath) : undefined;
      if (!table) continue;
      const changed = new Set(driver.findChangedColumns(table.columns, columns));
      for (const column of columns)
        if (changed.has(column) || !table.findColumnByName(column.databaseName))
          names.push(`${table.name}.${column.databaseName}`);
    }
    return names;
  } finally {
    await runner.release();
  }
}
