import type { Client } from 'pg';

/** A column of PostgreSQL that is copied. */
export interface TargetColumn {
  readonly name: string;
  /** Its type by its name in pg_type, such as `int8`, or `enum`. */
  readonly type: string;
  /** Its type as SQL has it, without length. */
  readonly sqlType: string;
  /** What its type is limited by (pg_attribute.atttypmod): 4 more than the length of text; -1 without a limit. */
  readonly modifier: number;
  readonly isRequired: boolean;
  /** The values of an enum. */
  readonly labels: readonly string[];
}

/** A foreign key of PostgreSQL. */
export interface TargetForeignKey {
  readonly table: string;
  readonly name: string;
  /** As ALTER TABLE … ADD CONSTRAINT takes it. */
  readonly definition: string;
  readonly columns: readonly string[];
  readonly referencedTable: string;
  readonly referencedColumns: readonly string[];
}

/** The sequence that numbers a column. */
export interface TargetSequence {
  readonly column: string;
  /** As `setval()` takes it. */
  readonly name: string;
  /** The largest number that it gives. */
  readonly largest: bigint;
}

/** A table of PostgreSQL. */
export interface TargetTable {
  readonly name: string;
  /** Without those that PostgreSQL computes. */
  readonly columns: readonly TargetColumn[];
  /** The columns of its primary key; empty without one. */
  readonly key: readonly string[];
  /** The columns of each unique index over columns and all rows, the primary key among them. */
  readonly uniques: readonly (readonly string[])[];
  readonly foreignKeys: readonly TargetForeignKey[];
  readonly sequences: readonly TargetSequence[];
}

const HERE = `(SELECT oid FROM pg_namespace WHERE nspname = current_schema())`;
const namesOf = (numbers: string, table: string): string =>
  `(SELECT json_agg(attname ORDER BY at) FROM unnest(${numbers}::int2[]) WITH ORDINALITY AS n(number, at)
    JOIN pg_attribute ON attrelid = ${table} AND attnum = number)`;

const COLUMNS = `
  SELECT c.relname AS "table", a.attname AS name, CASE t.typtype WHEN 'e' THEN 'enum' ELSE t.typname END AS type,
    format_type(a.atttypid, -1) AS "sqlType", a.atttypmod AS modifier, a.attnotnull AS "isRequired",
    coalesce((SELECT json_agg(enumlabel) FROM pg_enum WHERE enumtypid = t.oid), '[]') AS labels
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid
  WHERE c.relnamespace = ${HERE} AND c.relkind IN ('r', 'p') AND a.attgenerated = ''
  ORDER BY c.relname, a.attnum`;

const UNIQUES = `
  SELECT c.relname AS "table", i.indisprimary AS "isPrimary", ${namesOf('(i.indkey::int2[])[0:i.indnkeyatts - 1]', 'c.oid')} AS columns
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
  WHERE c.relnamespace = ${HERE} AND i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL`;

const FOREIGN_KEYS = `
  SELECT c.relname AS "table", k.conname AS name, pg_get_constraintdef(k.oid) AS definition,
    ${namesOf('k.conkey', 'k.conrelid')} AS columns, r.relname AS "referencedTable",
    ${namesOf('k.confkey', 'k.confrelid')} AS "referencedColumns"
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid
  WHERE c.relnamespace = ${HERE} AND k.contype = 'f' AND k.conparentid = 0`;

const SEQUENCES = `
  SELECT c.relname AS "table", a.attname AS column, s.seqrelid::regclass::text AS name, s.seqmax::text AS largest
  FROM pg_depend d JOIN pg_sequence s ON s.seqrelid = d.objid
    JOIN pg_class c ON c.oid = d.refobjid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
  WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
    AND c.relnamespace = ${HERE}`;

type Of<T> = T & { readonly table: string };

/** The tables of the schema that a session works in, by name. */
export async function readTables(client: Client): Promise<ReadonlyMap<string, TargetTable>> {
  const { rows: columns } = await client.query<Of<TargetColumn>>(COLUMNS);
  const { rows: uniques } = await client.query<Of<{ isPrimary: boolean; columns: string[] }>>(UNIQUES);
  const { rows: foreignKeys } = await client.query<TargetForeignKey>(FOREIGN_KEYS);
  const { rows: sequences } =
    await client.query<Of<{ column: string; name: string; largest: string }>>(SEQUENCES);
  const tables = new Map<string, TargetTable>();
  for (const name of new Set(columns.map(({ table }) => table))) {
    const ofTable = <T extends { readonly table: string }>(all: readonly T[]): T[] =>
      all.filter(({ table }) => table === name);
    const copied = new Set(ofTable(columns).map((column) => column.name));
    tables.set(name, {
      name,
      columns: ofTable(columns),
      key: ofTable(uniques).find(({ isPrimary }) => isPrimary)?.columns ?? [],
      uniques: ofTable(uniques)
        .map(({ columns: of }) => of)
        .filter((of) => of.every((column) => copied.has(column))),
      foreignKeys: ofTable(foreignKeys),
      sequences: ofTable(sequences).map(({ largest, ...of }) => ({ ...of, largest: BigInt(largest) })),
    });
  }
  return tables;
}
