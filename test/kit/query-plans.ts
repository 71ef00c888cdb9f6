import type { DataSource } from 'typeorm';

/** One step of a database's query plan. */
export interface PlanStep {
  /** The step as the database prints it. */
  readonly text: string;
  /** Whether rows are sorted instead of being read in order. */
  readonly isSort: boolean;
  /** The table whose rows are read, if any. */
  readonly table?: string;
  /** Set if all rows of the table are read: in the order of an index, or without an index. */
  readonly scan?: 'with an index' | 'without an index';
  /** Columns by which an index is searched. */
  readonly columns: readonly string[];
}

/** The plan of a query, as SQLite's EXPLAIN QUERY PLAN or PostgreSQL's EXPLAIN shows it. */
export async function planOf(
  dataSource: DataSource,
  sql: string,
  parameters: unknown[],
): Promise<PlanStep[]> {
  if (dataSource.options.type === 'postgres') return postgresPlan(dataSource, sql, parameters);
  const rows = await dataSource.query<{ detail: string }[]>(`EXPLAIN QUERY PLAN ${sql}`, parameters);
  return rows.map(({ detail }) => sqliteStep(detail));
}

function sqliteStep(text: string): PlanStep {
  const isSort = /TEMP B-TREE FOR /.test(text);
  const [, scanned, by] = /^SCAN (\S+)( USING)?/.exec(text) ?? [];
  if (scanned !== undefined)
    return { text, isSort, table: scanned, scan: by ? 'with an index' : 'without an index', columns: [] };
  const [, searched, conditions = ''] = /^SEARCH (\S+) USING .*\((.*)\)$/.exec(text) ?? [];
  const columns = conditions.split(' AND ').map((condition) => condition.replace(/[=<>].*$/, ''));
  return searched === undefined ? { text, isSort, columns: [] } : { text, isSort, table: searched, columns };
}

/** A node of EXPLAIN (FORMAT JSON), PostgreSQL manual, "EXPLAIN". */
interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Node[];
}

async function postgresPlan(dataSource: DataSource, sql: string, parameters: unknown[]): Promise<PlanStep[]> {
  return dataSource.transaction(async (manager) => {
    // PostgreSQL prefers to scan few rows, so scans and sorts are disabled to see whether an index can be used.
    for (const other of ['seqscan', 'bitmapscan', 'sort'])
      await manager.query(`SET LOCAL enable_${other} = off`);
    const [row] = await manager.query<{ 'QUERY PLAN': { Plan: Node }[] }[]>(
      `EXPLAIN (FORMAT JSON) ${sql}`,
      parameters,
    );
    return row?.['QUERY PLAN'].flatMap(({ Plan }) => postgresSteps(Plan)) ?? [];
  });
}

/** Whether a node can return more rows than a page holds. Where the parts of a list are merged, sorting one page of each is acceptable. */
function mayBeLong({ 'Node Type': type, 'Relation Name': table, Plans = [] }: Node): boolean {
  return type !== 'Limit' && (table !== undefined || Plans.some(mayBeLong));
}

function postgresSteps(node: Node): PlanStep[] {
  const { 'Node Type': type, 'Relation Name': table, 'Index Cond': condition = '', Plans = [] } = node;
  const columns = [...condition.matchAll(/\(+"?(\w+)"?\)?(?:::[\w ]+)? (?:[<>]=?|=)/g)].map(
    ([, column = '']) => column,
  );
  const text = [type, table && `on ${table}`, condition].filter(Boolean).join(' ');
  const step = { text, isSort: type.endsWith('Sort') && Plans.some(mayBeLong), columns };
  const inner = Plans.flatMap(postgresSteps);
  if (table === undefined) return [step, ...inner];
  const scan = type === 'Seq Scan' ? 'without an index' : 'with an index';
  return [{ ...step, table, ...(columns.length === 0 ? { scan } : {}) }, ...inner];
}
