import type { DataSource } from 'typeorm';
import { SystemClock } from '../../clock.js';

/** One statement of a migration, and its parameters. */
interface Statement {
  readonly query: string;
  readonly parameters?: readonly unknown[];
}

/** What brings the schema of a database to that of the declared entities, and back. */
export interface SchemaChange {
  readonly up: readonly Statement[];
  readonly down: readonly Statement[];
}

/** The difference between a database and the declared entities; changes nothing. */
export async function schemaChange(dataSource: DataSource): Promise<SchemaChange> {
  const { upQueries, downQueries } = await dataSource.driver.createSchemaBuilder().log();
  // TypeORM lists what undoes each statement in the order of those; to undo them all, the last one comes first.
  return { up: upQueries, down: downQueries.toReversed() };
}

/** The source of a migration; its class name ends in the time in milliseconds, by which migrations are ordered. */
export function migrationText(className: string, description: string, { up, down }: SchemaChange): string {
  return `import type { MigrationInterface, QueryRunner } from 'typeorm';

/** ${description} */
export class ${className} implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    ${up.map(statementText).join('\n    ')}
  }

  async down(runner: QueryRunner): Promise<void> {
    ${down.map(statementText).join('\n    ')}
  }
}
`;
}

function statementText({ query, parameters = [] }: Statement): string {
  const sql = `\`${query.replace(/[\\`]|\$(?=\{)/g, '\\$&')}\``;
  return parameters.length === 0
    ? `await runner.query(${sql});`
    : `await runner.query(${sql}, ${JSON.stringify(parameters)});`;
}

/** The time in milliseconds; after that of every migration there is, even on a machine whose clock is slow. */
export function timeAfter({ migrations }: DataSource): number {
  const times = migrations.map(({ name, constructor }) => Number((name ?? constructor.name).slice(-13)));
  return Math.max(new SystemClock().now(), ...times.map((time) => time + 1));
}
