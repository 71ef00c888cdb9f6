import {
  type DataSource,
  DataTypeNotSupportedError,
  type Driver,
  type EntityMetadata,
  Table,
  type TableColumn,
} from 'typeorm';
import { invalidDeclaration } from '../core/declaration-errors.js';
import { createDataSource } from './data-source.js';
import type { Database } from './database.js';
import { unregisteredMigrations } from './declared-files.js';
import { MAX_IDENTIFIER_BYTES, tooLongNames } from './identifiers.js';
import { migrate, schemaDifference, schemaStatus } from './schema.js';
import type { Tables } from './tables.module.js';

/**
 * Throws DeclarationError for an entity that cannot work on its database, without opening the database; `isStrict` outside of production.
 */
export async function checkEntities(declared: Database, isStrict: boolean): Promise<void> {
  await readEntities(declared);
  checkColumns(declared);
  checkTables(declared);
  if (isStrict) checkIdentifiers(declared);
}

/** Throws DeclarationError for a column that cannot work. */
function checkColumns({ entityMetadatas }: DataSource): void {
  for (const { name, columns } of entityMetadatas)
    for (const { propertyPath, type, transformer, isGenerated, enum: values, default: fallback } of columns) {
      if ((type === 'bigint' || type === 'int8') && transformer === undefined)
        invalidDeclaration(
          `${name}.${propertyPath}: without a transformer a ${type} is read as text. Use ${isGenerated ? '@Int64Key()' : '@Int64Column()'}.`,
        );
      if (values && typeof fallback === 'string' && !values.includes(fallback))
        invalidDeclaration(
          `${name}.${propertyPath}: the default "${fallback}" is not one of its values ${values.join(', ')}.`,
        );
    }
}

/**
 * Throws DeclarationError for tables with the same name in two schemas, because SQLite has no schemas, so TypeORM would merge the tables.
 */
function checkTables({ entityMetadatas, options }: DataSource): void {
  if (options.type !== 'sqlite') return;
  const first = new Map<string, EntityMetadata>();
  for (const entity of entityMetadatas) {
    const { name, tableName, schema = 'public' } = entity;
    const other = first.get(tableName.toLowerCase()) ?? entity;
    first.set(tableName.toLowerCase(), other);
    if ((other.schema ?? 'public') !== schema)
      invalidDeclaration(
        `${other.name} and ${name}: SQLite has no schemas, so both would have the table ${tableName}. Rename one of them.`,
      );
  }
}

/** Throws DeclarationError for a name that PostgreSQL would truncate, because the database would never match the declaration. */
function checkIdentifiers({ entityMetadatas }: DataSource): void {
  for (const entity of entityMetadatas)
    for (const name of tooLongNames(entity))
      invalidDeclaration(
        `${entity.name}: the name ${name} is longer than the ${MAX_IDENTIFIER_BYTES} bytes of PostgreSQL. Declare a shorter one.`,
      );
}

/** Throws DeclarationError if the entities differ from a fully migrated database. */
export async function checkMigrations(migrated: DataSource): Promise<void> {
  const difference = await findDifference(migrated);
  if (difference === undefined) return;
  const unregistered = await unregisteredMigrations(migrated.migrations);
  invalidDeclaration(
    `Entities have tables or columns that no ${unregistered === '' ? '' : 'registered '}migration creates (${difference.what}). ` +
      `${unregistered || 'Run `npm run migration:generate -- <feature>/<name>`.'} Entities of another DataSource are not compared if its forRoot() lists ` +
      `their classes, or forFeature() names that DataSource.${difference.details}`,
  );
}

/**
 * As checkMigrations(), in a temporary SQLite database, so that a refused startup does not migrate the file. Entities with types of
 * PostgreSQL are compared only with their own database, once it is open.
 */
export async function checkDeclaredMigrations(tables?: Tables): Promise<void> {
  const database = await createDataSource({ databaseUrl: 'sqlite::memory:' }, tables && { tables });
  try {
    await database.initialize();
    // A migration that fails here, perhaps only for lack of rows, is reported when it runs on its own database.
    const isMigrated = await migrate(database).then(
      () => true,
      () => false,
    );
    if (isMigrated) await checkMigrations(database);
  } catch (error) {
    if (!(error instanceof DataTypeNotSupportedError)) throw error;
  } finally {
    if (database.isInitialized) await database.destroy();
  }
}

/** Builds the metadata of the entities. Throws DeclarationError for a type that the database lacks. */
async function readEntities(declared: Database): Promise<void> {
  try {
    await declared.readEntities();
  } catch (error) {
    if (!(error instanceof DataTypeNotSupportedError)) throw error;
    invalidDeclaration(
      `${error.message} Use a type that both databases have, or a DATABASE_URL of a database that has it.`,
    );
  }
}

/** Throws DeclarationError if a fully migrated database differs from the entities. */
export async function checkSchema(database: Database): Promise<void> {
  // Additions of a newer build would count as differences.
  if ((await schemaStatus(database)).unknown.length > 0) return;
  const difference = await findDifference(database);
  if (difference === undefined) return;
  if (database.options.type === 'sqlite')
    invalidDeclaration(
      `The database lacks tables or columns that its migrations create (${difference.what}). ` +
        `Something else has changed it: ${difference.remedy}.${difference.details}`,
    );
  invalidDeclaration(
    `The database differs from the entities (${difference.what}). If its migrations cause the difference, run ` +
      `\`npm run migration:generate -- <feature>/<name>\`; if something else has changed it, ${difference.remedy}.${difference.details}`,
  );
}

/** How a database differs from its entities. */
interface SchemaDifference {
  readonly what: string;
  /** The remedy if the entities are correct. */
  readonly remedy: string;
  /** Sentences, each after a space, with the declared and actual type of each column. */
  readonly details: string;
}

/** Undefined if there is no difference. */
async function findDifference(database: DataSource): Promise<SchemaDifference | undefined> {
  const missing = await schemaDifference(database);
  if (missing.length === 0) return undefined;
  // On SQLite, a column is changed by copying the table, in statements that do not name the column.
  const columns = await differingColumns(database);
  if (columns.length > 0)
    return {
      what: columns.map(([name]) => name).join(', '),
      remedy: 'undo that change',
      details: columns.map(([name, how]) => ` ${name} is ${how}.`).join(''),
    };
  const shown = missing.find((query) => query.startsWith('CREATE TABLE')) ?? missing[0];
  const more = missing.length === 1 ? '' : `, and ${missing.length - 1} more`;
  return { what: `${shown}${more}`, remedy: 'run this statement', details: '' };
}

/** Missing and different columns, such as `toys.owner_id` and `integer, declared bigint`. */
async function differingColumns(database: DataSource): Promise<[name: string, how: string][]> {
  const { driver, entityMetadatas } = database;
  const runner = database.createQueryRunner();
  try {
    const differing: [string, string][] = [];
    for (const entity of entityMetadatas) {
      const { tablePath, synchronize, columns } = entity;
      const table = synchronize ? await runner.getTable(tablePath) : undefined;
      if (!table) continue;
      const declaredTable = Table.create(entity, driver);
      const changed = new Set(driver.findChangedColumns(table.columns, columns));
      for (const column of columns) {
        const found = table.findColumnByName(column.databaseName);
        if (found && !changed.has(column)) continue;
        const declared = describedColumn(driver, declaredTable.findColumnByName(column.databaseName));
        differing.push([
          `${table.name}.${column.databaseName}`,
          `${describedColumn(driver, found)}, declared ${declared}`,
        ]);
      }
    }
    return differing;
  } finally {
    await runner.release();
  }
}

/** The type of a column and its constraints, such as `varchar(20), not null, default 'red'`. */
function describedColumn(driver: Driver, column: TableColumn | undefined): string {
  if (!column) return 'absent';
  return [
    driver.createFullType(column),
    ...(column.isNullable ? [] : ['not null']),
    ...(column.isUnique ? ['unique'] : []),
    ...(column.default === undefined || column.default === null ? [] : [`default ${String(column.default)}`]),
  ].join(', ');
}
