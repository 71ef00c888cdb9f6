import type { DataSource } from 'typeorm';
import { SystemClock } from '../../core/time/clock.js';
import type { SchemaDifference, SchemaStatement } from '../../database/schema-difference.js';

/** The source of a migration; its class name ends in the time in milliseconds, by which migrations are ordered. */
export function migrationText(
  className: string,
  description: string,
  { up, down }: SchemaDifference,
): string {
  return `import type { MigrationInterface, QueryRunner } from 'typeorm';

/** ${description} */
export class ${className} implements MigrationInterface {
  /** Whether the build before runs on with it: docs/guides/migrations.md, Expand, migrate, contract. */
  readonly onlyExpands = ${onlyExpands(up)};

  async up(runner: QueryRunner): Promise<void> {
    ${up.map(statementText).join('\n    ')}
  }

  async down(runner: QueryRunner): Promise<void> {
    ${down.map(statementText).join('\n    ')}
  }
}
`;
}

/** Whether they do no more than make tables with their indexes, and indexes that refuse no row. What else does is not known. */
function onlyExpands(up: readonly SchemaStatement[]): boolean {
  const made = new Set(up.map(({ query }) => /^CREATE TABLE ("[^"]+")/.exec(query)?.[1]));
  return up.every(({ query }) => {
    const [, isUnique, table = ''] = /^CREATE (UNIQUE )?INDEX "[^"]+" ON ("[^"]+")/.exec(query) ?? [];
    return isUnique === undefined ? /^CREATE (?:TABLE|INDEX)\b/.test(query) : made.has(table);
  });
}

function statementText({ query, parameters = [] }: SchemaStatement): string {
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
