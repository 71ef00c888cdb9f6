import { shownDatabaseUrl } from '../../core/config/database-url.js';
import { type DatabaseSettings, createDataSource, openDataSource } from '../data-source.js';
import type { Database } from '../database.js';
import { messageOf } from '../postgres/postgres-errors.js';
import { migrate, schemaStatus } from '../schema.js';
import type { DeclaredCheck } from './constraint-faults.js';
import { CopyRefusal } from './copy-refusal.js';
import { type CopyState, progressOf } from './copy-state.js';
import type { PostgresTarget } from './postgres-target.js';
import { checkMigrations, ownTables, tablesToCopy } from './source-checks.js';
import type { SqliteSource } from './sqlite-source.js';
import type { TargetTable } from './target-schema.js';

/** A target that has its schema, and on which no instance starts from now on. */
export interface PreparedTarget {
  /** The state of the copy that goes on; undefined for one that begins. */
  readonly begun: CopyState | undefined;
  /** The tables that are copied. */
  readonly tables: readonly TargetTable[];
  /** What entities declare of their rows. */
  readonly checks: readonly DeclaredCheck[];
}

/** What is asked for. */
interface Order {
  readonly target: DatabaseSettings;
  readonly isResumed: boolean;
  readonly leftOut: readonly string[];
}

/**
 * Claims the target, migrates it and marks it. Throws CopyRefusal when it has data, is in use, or does not fit the source; then
 * nothing but its schema was written.
 */
export async function prepareTarget(
  order: Order,
  source: SqliteSource,
  target: PostgresTarget,
): Promise<PreparedTarget> {
  const declared = await declaredOf(order.target);
  await checkMigrations(source, declared.migrations);
  await target.claim();
  const state = await target.state();
  const begun = state && progressOf(state).copied > 0 ? state : undefined;
  if (begun) refuseUnlessResumed(order, begun);
  else await refuseData(order, source, target);
  if (!state) refuseUnbegun(order);
  await bringSchema(order.target, state !== undefined);
  if (!begun) await mark(source, target, state);
  const tables = await tablesToCopy(source, await target.tables(), declared.tables, order.leftOut);
  return { begun, tables, checks: declared.checks };
}

/** From here on no instance starts on it; one may have started since the first look. */
async function mark(
  source: SqliteSource,
  target: PostgresTarget,
  state: CopyState | undefined,
): Promise<void> {
  await target.mark(await sharedTables(source, target), state);
  try {
    await target.refuseOthers();
  } catch (error) {
    await target.unmark();
    throw error;
  }
}

/** What this build declares, by a DataSource that is not opened. */
async function declaredOf(settings: DatabaseSettings) {
  const database = await createDataSource(settings);
  await database.readEntities();
  return {
    migrations: database.migrations.map(({ name, constructor }) => name ?? constructor.name),
    tables: database.entityMetadatas.map(({ tableName }) => tableName),
    checks: database.entityMetadatas.flatMap(({ tableName, checks }): DeclaredCheck[] =>
      checks.map(({ name, expression }) => ({ table: tableName, name, expression })),
    ),
  };
}

function refuseUnlessResumed({ target, isResumed }: Order, begun: CopyState): void {
  if (isResumed) return;
  const { copied, rows } = progressOf(begun);
  const [state, what] =
    copied < rows
      ? [`that was interrupted after ${copied} of ${rows} rows`, 'go on with it']
      : [`of which all ${rows} rows are written, but not compared yet`, 'compare them'];
  throw new CopyRefusal(
    `${shownDatabaseUrl(target.databaseUrl)} holds a copy ${state}. Use --resume to ${what}, or name an empty database.`,
  );
}

/** One that is to go on must not begin in silence, where a wrong database was named: it would be there twice. */
function refuseUnbegun({ target, isResumed }: Order): void {
  if (!isResumed) return;
  throw new CopyRefusal(
    `No copy into ${shownDatabaseUrl(target.databaseUrl)} was begun. Leave --resume away to copy from the beginning.`,
  );
}

async function refuseData(
  { target: { databaseUrl }, isResumed }: Order,
  source: SqliteSource,
  target: PostgresTarget,
): Promise<void> {
  const filled = await target.filled(await sharedTables(source, target));
  if (filled.length === 0) return;
  const unbegun = isResumed
    ? ', and no copy into it is unfinished. A copy takes its mark away when both were found the same: if this is one that was ended at ' +
      'its last moment, the database can be used as it is. Otherwise name'
    : '. Name';
  throw new CopyRefusal(
    `${shownDatabaseUrl(databaseUrl)} has data already (${filled.join(', ')})${unbegun} an empty database with --to.`,
  );
}

async function sharedTables(source: SqliteSource, target: PostgresTarget): Promise<string[]> {
  const there = await target.tables();
  return (await ownTables(source)).filter((table) => there.has(table));
}

/** What is said of DATABASE_URL is said of the option that names the target. */
async function asTarget<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new CopyRefusal(messageOf(error).replaceAll('DATABASE_URL', '--to'), { cause: error });
  }
}

/** Migrates the target, unless a copy was begun there: then it has to have the schema of this build already. */
async function bringSchema(settings: DatabaseSettings, isBegun: boolean): Promise<void> {
  const database: Database = await asTarget(() => openDataSource(settings, { isPatient: true }));
  try {
    if (!isBegun) await asTarget(() => migrate(database));
    const { pending, unknown } = await schemaStatus(database);
    if (pending.length === 0 && unknown.length === 0) return;
    throw new CopyRefusal(
      `${shownDatabaseUrl(settings.databaseUrl)} was migrated by another version of the service (${[...pending, ...unknown].join(', ')}). ` +
        'Copy with that version, or into an empty database.',
    );
  } finally {
    await database.destroy();
  }
}
