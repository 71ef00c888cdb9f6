import type { DataSource } from 'typeorm';
import { type CachedKind, isCachedAs } from '../data-version.js';
import { type SharedKind, kindOfTable } from '../shared-data-version.js';

/** A statement that changes the rows of one table, which it names without its schema, and has no other statement in it. */
const CHANGE =
  /^\s*(INSERT(?= INTO)|UPDATE|DELETE(?= FROM))(?: INTO| FROM)?\s+"([^"]+)"(?=\s+["\w]|\s*\(|\s*$)(?!.*(?:;|\bWITH\b))/is;
const UPDATES_ON_CONFLICT = /\bDO\s+UPDATE\b/i;

/** The functions of the database's own that may write. */
const FUNCTIONS = `FROM pg_proc JOIN pg_language ON pg_language.oid = prolang
  WHERE provolatile = 'v' AND pg_proc.oid >= 16384 AND lanname NOT IN ('c', 'internal') AND prorettype <> 'trigger'::regtype`;

/**
 * For each table the tables that a statement of a kind reaches, by foreign keys that pass its change on. Left out is what reaches one
 * that does more: by a trigger, a rule, row security, partitions or heirs. A function of the database's own might write anything
 * anywhere; where there is one, nothing is certain. The kinds are I, U and D: in words they would make this a statement that writes.
 */
const REACHED = `
  WITH RECURSIVE relations AS (
    SELECT oid, relname::text AS name, relkind = 'r' AND NOT relhasrules AND NOT relhassubclass AND NOT relispartition
      AND NOT relrowsecurity AND pg_table_is_visible(oid)
      AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = pg_class.oid AND NOT tgisinternal)
      AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = pg_class.oid) AS is_plain
    FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace <> 'pg_catalog'::regnamespace
  ), reached AS (
    SELECT kind, oid AS changed, oid AS reached FROM relations, (VALUES ('I'), ('U'), ('D')) AS kinds (kind)
    UNION
    SELECT kind, changed, conrelid FROM reached JOIN pg_constraint ON contype = 'f' AND confrelid = reached.reached
    WHERE kind <> 'I' AND confupdtype IN ('c', 'n', 'd') OR kind = 'D' AND confdeltype IN ('c', 'n', 'd')
  )
  SELECT kind || ' ' || changed.name AS change, array_agg(other.name) AS tables
  FROM reached
    JOIN relations AS changed ON changed.oid = reached.changed
    JOIN relations AS other ON other.oid = reached.reached
  WHERE NOT EXISTS (SELECT ${FUNCTIONS})
  GROUP BY kind, changed.oid, changed.name HAVING bool_and(other.is_plain)`;

/** Tables that the statements of a transaction may have changed. */
export class Changes {
  readonly tables = new Set<string>();
  /** Whether the catalog shows for each statement which tables it changes. */
  isKnown = true;
  /** The period of the catalog in which the first statement was sent. */
  period: number | undefined;
  isEmpty = true;
}

/** Finds which tables statements change, as far as their text and the catalog show it for certain. */
export class ChangedTables {
  private reached: ReadonlyMap<string, readonly string[]> = new Map();
  private cachedAsKeys: ReadonlySet<string> = new Set();
  private calls: RegExp | undefined;

  /** `period` changes after each time in which another process may have changed the catalog; undefined during such a time. */
  constructor(
    private readonly dataSource: DataSource,
    private readonly period: () => number | undefined,
  ) {}

  /** Reads the catalog; nothing is certain before. */
  async read(): Promise<void> {
    const rows = await this.dataSource.query<{ change: string; tables: string[] }[]>(REACHED);
    this.reached = new Map(rows.map(({ change, tables }) => [change, tables]));
    const functions = await this.dataSource.query<{ name: string }[]>(
      `SELECT DISTINCT proname::text AS name ${FUNCTIONS}`,
    );
    const names = functions.map(({ name }) => name.replaceAll(/\W/g, '\\$&'));
    this.calls = names.length === 0 ? undefined : new RegExp(`(?<!\\w)(?:${names.join('|')})"?\\s*\\(`, 'i');
    const cached = this.dataSource.entityMetadatas.filter(({ target }) => isCachedAs(target, 'keys'));
    this.cachedAsKeys = new Set(cached.map(({ tableName }) => tableName));
  }

  /** Whether the rows of a table are changed by nothing but statements that name it, or are not certain. */
  isTold(table: string): boolean {
    return this.reached.has(`I ${table}`);
  }

  /** Whether a statement calls a function that may write. */
  callsWriter(sql: string): boolean {
    return this.calls?.test(sql) ?? false;
  }

  /** Notes a statement that is about to be sent. */
  note(changes: Changes, sql: string): void {
    if (changes.isEmpty) changes.period = this.period();
    changes.isEmpty = false;
    const [, kind = '', table = ''] = CHANGE.exec(sql) ?? [];
    const letter = UPDATES_ON_CONFLICT.test(sql) ? 'U' : kind.slice(0, 1).toUpperCase();
    const tables = this.reached.get(`${letter} ${table}`);
    if (!tables) changes.isKnown = false;
    for (const one of tables ?? []) changes.tables.add(one);
  }

  /** The cached kinds that a commit changes. `declared` are those known beforehand. */
  kindsOf({ tables, isKnown, period, isEmpty }: Changes, declared?: readonly CachedKind[]): SharedKind[] {
    if (declared ? declared.length === 0 : isEmpty) return [];
    const isTold = isKnown && period !== undefined && period === this.period();
    const kinds: SharedKind[] = [
      'responses',
      ...(isTold ? [...tables].map(kindOfTable) : ['tables' as const]),
    ];
    const changesKeys = declared
      ? declared.includes('keys') || !isKnown
      : !isTold || [...tables].some((table) => this.cachedAsKeys.has(table));
    if (changesKeys) kinds.push('keys');
    return kinds;
  }
}
