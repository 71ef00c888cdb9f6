import { EXPANSIONS_TABLE, MIGRATIONS_TABLE } from '../data-source.js';
import { ProcessLockFiles } from '../sqlite/process-lock-files.js';
import { CopyRefusal } from './copy-refusal.js';
import type { SqliteSource } from './sqlite-source.js';
import type { TargetTable } from './target-schema.js';

/**
 * Tables that are not copied: the target has its own, made by its migrations. SQLite's own (sqlite_…) are none of the store; what
 * sqlite_sequence remembers becomes the state of the sequences.
 */
const OF_EACH_DATABASE = new Set([MIGRATIONS_TABLE, EXPANSIONS_TABLE, 'typeorm_metadata']);

/** The names of the tables of the source that are part of the store. */
export async function ownTables(source: SqliteSource): Promise<string[]> {
  const names = await source.names(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name`,
  );
  return names.filter((name) => !OF_EACH_DATABASE.has(name));
}

/** Throws CopyRefusal while a process serves the file: it has counts in memory, and goes on writing. */
export async function refuseServed(file: string): Promise<void> {
  const serving = await (await ProcessLockFiles.of(file)).others('left');
  if (serving > 0)
    throw new CopyRefusal(
      `${serving === 1 ? 'A process serves' : `${serving} processes serve`} ${file}: what it writes from now on would be lost. Stop ` +
        'the service, then copy.',
    );
}

/** Throws CopyRefusal unless the source has run exactly the migrations that this build declares. */
export async function checkMigrations(source: SqliteSource, declared: readonly string[]): Promise<void> {
  const { file } = source;
  const tables = await source.names(`SELECT name FROM sqlite_master WHERE type = 'table'`);
  if (!tables.includes(MIGRATIONS_TABLE))
    throw new CopyRefusal(`${file} is not the database of this service. Name its file with --from.`);
  const applied = await source.names(`SELECT name FROM ${MIGRATIONS_TABLE} ORDER BY timestamp`);
  const pending = declared.filter((name) => !applied.includes(name));
  const unknown = applied.filter((name) => !declared.includes(name));
  if (unknown.length > 0)
    throw new CopyRefusal(
      `${file} was migrated by a newer version of the service (${unknown.join(', ')}), or with a module that is gone. Copy it with that ` +
        'version, or put the module back.',
    );
  if (pending.length > 0)
    throw new CopyRefusal(
      `${file} lacks migrations (${pending.join(', ')}). Run "DATABASE_URL=sqlite:${file} petstore db migrate", then copy.`,
    );
}

/**
 * The tables to copy, by their names in both databases. Throws CopyRefusal when one of them has tables or columns that the other has
 * not. `leftOut` are tables of the source that stay behind; `declared` those that entities have.
 */
export async function tablesToCopy(
  source: SqliteSource,
  target: ReadonlyMap<string, TargetTable>,
  declared: readonly string[],
  leftOut: readonly string[],
): Promise<TargetTable[]> {
  const there = await ownTables(source);
  const faults = [
    ...leftOut
      .filter((name) => !there.includes(name))
      .map((name) => `--leave-out ${name}: there is no such table`),
    ...declared
      .filter((name) => !there.includes(name) || leftOut.includes(name))
      .map((name) => `the table ${name} belongs to the service, and is not in the copy`),
    ...there
      .filter((name) => !target.has(name) && !leftOut.includes(name))
      .map(
        (name) =>
          `no migration makes the table ${name}; write one, or leave it behind with --leave-out ${name}`,
      ),
  ];
  const tables = there.filter((name) => !leftOut.includes(name)).flatMap((name) => target.get(name) ?? []);
  for (const table of tables) faults.push(...(await columnFaults(source, table)));
  if (faults.length > 0)
    throw new CopyRefusal(
      `${source.file} cannot be copied as it is:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    );
  return tables;
}

async function columnFaults(source: SqliteSource, { name, columns, key }: TargetTable): Promise<string[]> {
  const there = await source.columnsOf(name);
  const known = columns.map((column) => column.name);
  return [
    ...there
      .filter((column) => !known.includes(column))
      .map((column) => `no migration makes ${name}.${column}; write one`),
    ...known
      .filter((column) => !there.includes(column))
      .map((column) => `it lacks ${name}.${column}, which migrations make`),
    ...(key.length === 0
      ? [`${name} has no primary key, by which a copy goes on; write a migration that gives it one`]
      : []),
  ];
}
