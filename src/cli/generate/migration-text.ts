import type { DataSource } from 'typeorm';
import { SystemClock } from '../../core/time/clock.js';
import type { SchemaChange } from './schema-changes.js';

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
  /** Whether the build before runs on with it: docs/guides/migrations.md, Expand, migrate, contract. */
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
