import type {
  DataSource,
  QueryRunner,
  Table,
  TableCheck,
  TableColumn,
  TableForeignKey,
  TableIndex,
  TableUnique,
} from 'typeorm';
import { SystemClock } from '../../core/time/clock.js';
import { Refusal } from '../refusal.js';

/** One change of a schema, as a call of TypeORM's QueryRunner: the same on every database. */
export interface SchemaChange {
  readonly up: string;
  readonly down: string;
  /** Whether older builds work with it: a new table, an index that is not unique, an optional column. */
  readonly onlyExpands: boolean;
}

type Part = TableColumn | TableIndex | TableForeignKey | TableCheck | TableUnique;

/** Calls of the schema builder that add or drop parts of one kind. */
const OF_PARTS = /^(add|create|drop)(Column|Ind|ForeignKey|CheckConstraint|UniqueConstraint)(?:s|ex|ices)$/;

/**
 * What the declared entities have and a database lacks, as TypeORM's schema builder would change it; nothing is changed. Throws Refusal
 * for changes that must be written by hand.
 */
export async function schemaChanges(dataSource: DataSource): Promise<SchemaChange[]> {
  const calls: Call[] = [];
  const builder = dataSource.driver.createSchemaBuilder();
  const make = dataSource.createQueryRunner.bind(dataSource);
  dataSource.createQueryRunner = (mode) => recording(make(mode), (...call) => calls.push(call));
  try {
    await builder.log();
  } finally {
    dataSource.createQueryRunner = make;
  }
  const made = new Set(calls.flatMap(([name, table]) => (name === 'createTable' ? [table.name] : [])));
  return calls.flatMap(([name, table, parts]) => {
    if (name === 'createTable') return [tableMade(table, calls)];
    if (name === 'createForeignKeys' && made.has(table.name)) return [];
    if (name === 'changeColumns') return (parts as Changed[]).map((one) => columnChanged(table, one));
    const [, verb, kind] = OF_PARTS.exec(name) ?? [];
    if (kind === undefined)
      throw new Refusal(`${table.name}: a migration cannot be generated for ${name}(). Write it by hand.`);
    return ([parts].flat() as Part[]).map((part) => {
      const addition = partAdded(kind === 'Ind' ? 'Index' : kind, table.name, part);
      if (verb !== 'drop') return addition;
      return { up: addition.down, down: addition.up, onlyExpands: false };
    });
  });
}

type Call = readonly [name: string, table: Table, parts: unknown];
interface Changed {
  readonly oldColumn: TableColumn;
  readonly newColumn: TableColumn;
}

/** A runner that reports calls from outside, but not those that it makes itself. */
function recording(runner: QueryRunner, tell: (...call: Call) => void): QueryRunner {
  return new Proxy(runner, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return (...args: unknown[]): unknown => {
        if (/^(?:add|change|create|drop|update)[A-Z]/.test(String(name)))
          tell(String(name), args[0] as Table, args[1]);
        return Reflect.apply(method, target, args);
      };
    },
  });
}

function tableMade(table: Table, calls: readonly Call[]): SchemaChange {
  const keys = calls.flatMap(([name, { name: of }, parts]) =>
    name === 'createForeignKeys' && of === table.name ? (parts as TableForeignKey[]) : [],
  );
  const { name, columns, checks, uniques, indices } = table;
  const options = { name, columns, checks, uniques, indices, foreignKeys: keys };
  return {
    up: `await runner.createTable(new Table(${literal(options)}));`,
    down: `await runner.dropTable(${literal(table.name)});`,
    onlyExpands: true,
  };
}

/** `kind` is that of the runner's methods, such as `UniqueConstraint`, whose class is TableUnique. */
function partAdded(kind: string, table: string, part: Part): SchemaChange {
  const type = `Table${kind.replace('Constraint', '')}`;
  const create = kind === 'Column' ? 'addColumn' : `create${kind}`;
  const refusesNoRow =
    kind === 'Column'
      ? (part as TableColumn).isNullable || (part as TableColumn).default !== undefined
      : kind === 'Index' && !(part as TableIndex).isUnique;
  return {
    up: `await runner.${create}(${literal(table)}, new ${type}(${literal(part)}));`,
    down: `await runner.drop${kind}(${literal(table)}, ${literal(part.name)});`,
    onlyExpands: refusesNoRow,
  };
}

function columnChanged({ name }: Table, { oldColumn, newColumn }: Changed): SchemaChange {
  const change = (from: TableColumn, to: TableColumn) =>
    `await runner.changeColumn(${literal(name)}, ${literal(from.name)}, new TableColumn(${literal(to)}));`;
  return { up: change(oldColumn, newColumn), down: change(newColumn, oldColumn), onlyExpands: false };
}

/** A value as JavaScript, without members that are as they are by default. */
function literal(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    one === null || one === false || one === '' || (Array.isArray(one) && one.length === 0) ? undefined : one,
  );
}

/** The source of a migration; its class name ends in the time in milliseconds, by which migrations are ordered. */
export function migrationText(
  className: string,
  description: string,
  changes: readonly SchemaChange[],
): string {
  const up = changes.map((change) => change.up);
  const down = changes.map((change) => change.down).toReversed();
  const used = [...up, ...down].flatMap((call) => /new (Table\w*)/.exec(call)?.[1] ?? []);
  const imported = [...new Set(used)].toSorted().map((name) => `, ${name}`);
  return `import { type MigrationInterface, type QueryRunner${imported.join('')} } from 'typeorm';

/** ${description} */
export class ${className} implements MigrationInterface {
  /** Whether older builds work with it: docs/guides/migrations.md, Expand, migrate, contract. */
  readonly onlyExpands = ${changes.every(({ onlyExpands }) => onlyExpands)};

  async up(runner: QueryRunner): Promise<void> {
    ${up.join('\n    ')}
  }

  async down(runner: QueryRunner): Promise<void> {
    ${down.join('\n    ')}
  }
}
`;
}

/** The time in milliseconds; after that of every migration there is, even on a machine whose clock is slow. */
export function timeAfter({ migrations }: DataSource): number {
  const times = migrations.map(({ name, constructor }) => Number((name ?? constructor.name).slice(-13)));
  return Math.max(new SystemClock().now(), ...times.map((time) => time + 1));
}
