import type { Faults } from './faults.js';
import { type RawValue, rawSql, shownRaw } from './raw-value.js';
import { type SqliteSource, quoted } from './sqlite-source.js';
import type { TargetForeignKey, TargetTable } from './target-schema.js';

/** A condition that an entity declares for the rows of its table, in SQL that both databases take. */
export interface DeclaredCheck {
  readonly table: string;
  readonly name: string;
  readonly expression: string;
}

/** How many rows are read for one constraint; more are counted as one. */
const MOST_READ = 100;

/** Finds rows that violate a constraint of PostgreSQL: SQLite checks none of those that were made while it did not look. */
export async function findConstraintFaults(
  source: SqliteSource,
  tables: readonly TargetTable[],
  checks: readonly DeclaredCheck[],
  faults: Faults,
): Promise<void> {
  for (const table of tables) {
    for (const unique of table.uniques) await findTwice(source, table, unique, faults);
    for (const key of table.foreignKeys) await findOrphans(source, table, key, faults);
    for (const check of checks)
      if (check.table === table.name) await findUnchecked(source, table, check, faults);
  }
}

async function findTwice(
  source: SqliteSource,
  table: TargetTable,
  unique: readonly string[],
  faults: Faults,
): Promise<void> {
  const columns = unique.map(quoted);
  const rows = await source.query(
    `SELECT ${unique.map((name, at) => `${rawSql(quoted(name))} AS v${at}`).join(', ')} FROM ${quoted(table.name)}
     WHERE ${columns.map((column) => `${column} IS NOT NULL`).join(' AND ')}
     GROUP BY ${columns.map((column) => `${column} COLLATE BINARY`).join(', ')} HAVING count(*) > 1 LIMIT ${MOST_READ}`,
  );
  for (const row of rows) faults.add(table.name, named(unique, row), 'is there more than once; keep one');
}

async function findOrphans(
  source: SqliteSource,
  table: TargetTable,
  { columns, referencedTable, referencedColumns }: TargetForeignKey,
  faults: Faults,
): Promise<void> {
  const refers = columns.map(
    (column, at) => `r.${quoted(referencedColumns[at] ?? '')} = t.${quoted(column)} COLLATE BINARY`,
  );
  const rows = await source.query(
    `SELECT ${[...table.key, ...columns].map((name, at) => `${rawSql(`t.${quoted(name)}`)} AS v${at}`).join(', ')}
     FROM ${quoted(table.name)} AS t WHERE ${columns.map((column) => `t.${quoted(column)} IS NOT NULL`).join(' AND ')}
       AND NOT EXISTS (SELECT 1 FROM ${quoted(referencedTable)} AS r WHERE ${refers.join(' AND ')}) LIMIT ${MOST_READ}`,
  );
  for (const row of rows) {
    const values = Object.values(row).slice(table.key.length) as RawValue[];
    const what = `${columns.join(', ')} names ${values.map(shownRaw).join(', ')}, which is not in ${referencedTable}`;
    faults.add(table.name, named(table.key, row), `${what}; name another, or delete the row`);
  }
}

async function findUnchecked(
  source: SqliteSource,
  table: TargetTable,
  { name, expression }: DeclaredCheck,
  faults: Faults,
): Promise<void> {
  const key = table.key.map((part, at) => `${rawSql(quoted(part))} AS v${at}`).join(', ');
  const rows = await source
    .query(`SELECT ${key} FROM ${quoted(table.name)} WHERE NOT (${expression}) LIMIT ${MOST_READ}`)
    // It is in PostgreSQL's own words, which will look at each row itself.
    .catch(() => []);
  for (const row of rows)
    faults.add(table.name, named(table.key, row), `violates ${name} (${expression}); correct it`);
}

function named(
  names: readonly string[],
  row: Readonly<Record<string, unknown>>,
): Readonly<Record<string, RawValue>> {
  const values = Object.values(row) as RawValue[];
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? null]));
}
