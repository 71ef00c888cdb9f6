import { CarriedRows, isFaulty } from './carried-rows.js';
import type { TableSum } from './checksum.js';
import { type DeclaredCheck, findConstraintFaults } from './constraint-faults.js';
import { CopyRefusal } from './copy-refusal.js';
import { Faults } from './faults.js';
import { type SqliteSource, keyOf, quoted } from './sqlite-source.js';
import type { TargetTable } from './target-schema.js';

/** Is told how many more rows were looked at; throws to stop. */
export type Tick = (rows: number) => void;

/** How many rows the tables have together. */
export async function countRows(source: SqliteSource, tables: readonly TargetTable[]): Promise<number> {
  let count = 0;
  for (const { name } of tables)
    for (const row of await source.query(`SELECT count(*) AS count FROM ${quoted(name)}`))
      count += Number(row['count']);
  return count;
}

/**
 * Reads every row of the source before one is written. Answers how many there are and their checksum, by table. Throws CopyRefusal
 * that names what PostgreSQL would refuse.
 */
export async function examineRows(
  source: SqliteSource,
  tables: readonly TargetTable[],
  checks: readonly DeclaredCheck[],
  tick: Tick,
): Promise<ReadonlyMap<string, TableSum>> {
  await refuseDamaged(source);
  const faults = new Faults();
  const sums = new Map<string, TableSum>();
  for (const table of tables) sums.set(table.name, await examineTable(source, table, faults, tick));
  await findConstraintFaults(source, tables, checks, faults);
  findSpentSequences(await lastIds(source, tables), tables, faults);
  faults.refuse(source.file);
  return sums;
}

/** The last id that each table has given, as SQLite would go on from it; tables that number nothing are left out. */
export async function lastIds(
  source: SqliteSource,
  tables: readonly TargetTable[],
): Promise<ReadonlyMap<string, bigint>> {
  const isKept =
    (await source.names(`SELECT name FROM sqlite_master WHERE name = 'sqlite_sequence'`)).length > 0;
  const last = new Map<string, bigint>();
  for (const { name, sequences } of tables)
    for (const { column } of sequences) {
      // SQLite remembers the ids of deleted rows, too, and goes on from what is larger ("SQLite Autoincrement").
      const remembered = isKept
        ? await source.query('SELECT CAST(max(seq) AS TEXT) AS id FROM sqlite_sequence WHERE name = ?', [
            name,
          ])
        : [];
      const largest = await source.query(
        `SELECT CAST(max(${quoted(column)}) AS TEXT) AS id FROM ${quoted(name)}`,
      );
      for (const { id } of [...remembered, ...largest])
        if (typeof id === 'string' && BigInt(id) > (last.get(name) ?? 0n)) last.set(name, BigInt(id));
    }
  return last;
}

async function examineTable(
  source: SqliteSource,
  table: TargetTable,
  faults: Faults,
  tick: Tick,
): Promise<TableSum> {
  const rows = new CarriedRows(table);
  for await (const batch of source.batches(table)) {
    for (const row of batch) {
      const carried = rows.carry(row);
      if (!isFaulty(carried)) continue;
      const values = keyOf(table, row);
      const key = Object.fromEntries(table.key.map((name, at) => [name, values[at] ?? null]));
      for (const { at, fault } of carried)
        faults.add(table.name, key, `${table.columns[at]?.name} ${fault.problem}`);
      // The rows after it are found by its key.
      if (carried.some(({ at }) => table.key.includes(table.columns[at]?.name ?? ''))) {
        faults.add(table.name, key, 'the rows after it can be looked at when its key is corrected');
        return rows.total;
      }
    }
    tick(batch.length);
  }
  return rows.total;
}

function findSpentSequences(
  last: ReadonlyMap<string, bigint>,
  tables: readonly TargetTable[],
  faults: Faults,
): void {
  for (const { name, sequences } of tables)
    for (const { column, largest } of sequences) {
      const id = last.get(name) ?? 0n;
      if (id <= largest) continue;
      faults.add(
        name,
        {},
        `its ids have come to ${id}, and ${column} holds at most ${largest}; make it a bigint`,
      );
    }
}

async function refuseDamaged(source: SqliteSource): Promise<void> {
  const [encoding] = await source.names('PRAGMA encoding');
  if (encoding !== 'UTF-8')
    throw new CopyRefusal(
      `${source.file} is kept in ${encoding}. Make a copy in UTF-8 with "sqlite3 … .dump".`,
    );
  const found = await source.names('PRAGMA quick_check(20)');
  // Constraints are looked at by row later on.
  const damage = found.filter(
    (line) => line !== 'ok' && !/^(?:NULL value in|CHECK constraint failed)/.test(line),
  );
  if (damage.length > 0)
    throw new CopyRefusal(
      `${source.file} is damaged: ${damage.join('; ')}. Restore a backup, then copy that.`,
    );
}
