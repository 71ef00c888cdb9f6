import { isDeepStrictEqual } from 'node:util';
import {
  type DataSource,
  type QueryRunner,
  Table,
  TableColumn,
  type TableForeignKey,
  TableIndex,
} from 'typeorm';
import { SystemClock } from '../../core/time/clock.js';
import { Refusal } from '../../core/refusal.js';

/** A change of a schema as a call of TypeORM's QueryRunner, which is the same for every database. */
export interface SchemaChange {
  readonly up: string;
  readonly down: string;
  /** Whether older builds work with it: a new table, an index that is not unique, or an optional column. */
  readonly onlyExpands: boolean;
  /** Whether it creates an index on an existing table that stays writable: on PostgreSQL, outside a transaction. */
  readonly isConcurrent?: boolean;
}

type Call = readonly [name: string, table: Table, parts: unknown];

/** Methods of the QueryRunner that add or drop parts of one kind. */
const OF_PARTS = /^(add|create|drop)(Column|Ind|ForeignKey|CheckConstraint|UniqueConstraint)(?:s|ex|ices)$/;

/**
 * What TypeORM's schema builder would change so that a database matches the declared entities. Changes nothing. Throws Refusal for changes
 * that must be written by hand.
 */
export async function schemaChanges(dataSource: DataSource): Promise<SchemaChange[]> {
  const calls: Call[] = [];
  const builder = dataSource.driver.createSchemaBuilder();
  const original = dataSource.createQueryRunner.bind(dataSource);
  dataSource.createQueryRunner = (mode) => recording(original(mode), (...call) => calls.push(call));
  try {
    await builder.log();
  } finally {
    dataSource.createQueryRunner = original;
  }
  return calls.flatMap((call) => changesOf(call, calls));
}

/** A proxy of the runner that reports external calls, but not the calls that the runner makes itself. */
function recording(runner: QueryRunner, onCall: (...call: Call) => void): QueryRunner {
  return new Proxy(runner, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return (...args: unknown[]): unknown => {
        if (/^(?:add|change|create|drop|update)[A-Z]/.test(String(name)))
          onCall(String(name), args[0] as Table, args[1]);
        return Reflect.apply(method, target, args);
      };
    },
  });
}

/** The changes of one call. Foreign keys of a new table are part of it. */
function changesOf([name, table, argument]: Call, calls: readonly Call[]): SchemaChange[] {
  const isNew = calls.some(([other, { name: of }]) => other === 'createTable' && of === table.name);
  if (name === 'createForeignKeys' && isNew) return [];
  if (name === 'createTable') {
    const foreignKeys = calls.flatMap(([other, { name: of }, keys]) =>
      other === 'createForeignKeys' && of === table.name ? (keys as TableForeignKey[]) : [],
    );
    const { columns, checks, uniques, indices } = table;
    const created = new Table({ name: table.name, columns, checks, uniques, indices, foreignKeys });
    return [{ up: source('createTable', created), down: source('dropTable', table.name), onlyExpands: true }];
  }
  if (name === 'changeColumns')
    return (argument as Record<'oldColumn' | 'newColumn', TableColumn>[]).map(({ oldColumn, newColumn }) => ({
      up: source('changeColumn', table.name, oldColumn.name, newColumn),
      down: source('changeColumn', table.name, newColumn.name, oldColumn),
      onlyExpands: false,
    }));
  // On PostgreSQL, the builder makes this call for every table.
  if (name === 'changeTableComment' && (table.comment ?? '') === (argument ?? '')) return [];
  const [, verb, kind] = OF_PARTS.exec(name) ?? [];
  if (kind === undefined)
    throw new Refusal(`${table.name}: a migration cannot be generated for ${name}(). Write it by hand.`);
  const method = kind === 'Ind' ? 'Index' : kind;
  return ([argument].flat() as (TableColumn | TableIndex | TableForeignKey)[]).map((part) => {
    if (part instanceof TableIndex && verb === 'create' && !isReferenced(part, table, calls))
      return concurrent(table, part);
    const added = source(`${kind === 'Column' ? 'add' : 'create'}${method}`, table.name, part);
    const dropped = source(`drop${method}`, table.name, part.name);
    if (verb === 'drop') return { up: dropped, down: added, onlyExpands: false };
    return { up: added, down: dropped, onlyExpands: refusesNoRow(part) };
  });
}

/** Whether a foreign key that is added in the same migration needs this unique index. */
function isReferenced(
  { isUnique, columnNames }: TableIndex,
  { name }: Table,
  calls: readonly Call[],
): boolean {
  const added = calls.flatMap(([call, , keys]) =>
    call === 'createForeignKeys' ? (keys as TableForeignKey[]) : [],
  );
  return (
    isUnique &&
    added.some(
      ({ referencedTableName, referencedColumnNames }) =>
        referencedTableName === name &&
        isDeepStrictEqual(referencedColumnNames.toSorted(), columnNames.toSorted()),
    )
  );
}

function concurrent({ name }: Table, index: TableIndex): SchemaChange {
  const copy = index.clone();
  copy.isConcurrent = true;
  return {
    up: source('createIndex', name, copy),
    down: source('dropIndex', name, copy),
    onlyExpands: refusesNoRow(index),
    isConcurrent: true,
  };
}

function refusesNoRow(part: unknown): boolean {
  if (part instanceof TableColumn) return part.isNullable || part.default !== undefined;
  return part instanceof TableIndex && !part.isUnique;
}

/** The source of a call of the runner, without members that have their default value. */
function source(method: string, ...args: readonly (string | object | undefined)[]): string {
  const shown = args.map((arg) => {
    const literal = JSON.stringify(arg, (_, one: unknown) =>
      one === null || one === false || one === '' || (Array.isArray(one) && one.length === 0)
        ? undefined
        : one,
    );
    return typeof arg === 'object' ? `new ${arg.constructor.name}(${literal})` : literal;
  });
  return `await runner.${method}(${shown.join(', ')});`;
}

/** Groups changes into migrations: indexes on existing tables go into a last one, without a transaction. */
export function migrationsOf(changes: readonly SchemaChange[]): (readonly SchemaChange[])[] {
  const apart = changes.filter(({ isConcurrent }) => isConcurrent);
  const others = changes.filter((change) => !apart.includes(change));
  return [others, apart].filter(({ length }) => length > 0);
}

const WITHOUT_TRANSACTION = `  /** PostgreSQL can create an index without blocking writes only outside a transaction. */
  readonly transaction = false;
`;

/** The source of a migration. Its class name ends in the timestamp, by which migrations are ordered. */
export function migrationText(
  className: string,
  description: string,
  changes: readonly SchemaChange[],
): string {
  const up = changes.map((change) => change.up);
  const down = changes.map((change) => change.down).toReversed();
  const used = [...up, ...down].flatMap((call) => /new (Table\w*)/.exec(call)?.[1] ?? []);
  const isConcurrent = changes.some((change) => change.isConcurrent === true);
  const imported = [...new Set(used)].toSorted().map((name) => `, ${name}`);
  return `import { type MigrationInterface, type QueryRunner${imported.join('')} } from 'typeorm';

/** ${description} */
export class ${className} implements MigrationInterface {
  /** Whether older builds work with it: see "Expand, migrate, contract" in docs/guides/migrations.md of petstore-service. */
  readonly onlyExpands = ${changes.every(({ onlyExpands }) => onlyExpands)};
${isConcurrent ? WITHOUT_TRANSACTION : ''}
  async up(runner: QueryRunner): Promise<void> {
    ${up.join('\n    ')}
  }

  async down(runner: QueryRunner): Promise<void> {
    ${down.join('\n    ')}
  }
}
`;
}

/** The current time in milliseconds, or just after the latest migration if this machine's clock is slow. */
export function timeAfter({ migrations }: DataSource): number {
  const times = migrations.map(({ name, constructor }) => Number((name ?? constructor.name).slice(-13)));
  return Math.max(new SystemClock().now(), ...times.map((time) => time + 1));
}
