import type { DataSource } from 'typeorm';

/** A statement that changes a schema, and its parameters. */
export interface SchemaStatement {
  readonly query: string;
  readonly parameters?: readonly unknown[];
}

/** What the declared entities have and a database has not: statements that bring it there, and back. */
export interface SchemaDifference {
  readonly up: readonly SchemaStatement[];
  readonly down: readonly SchemaStatement[];
}

/**
 * The statements that TypeORM's `migration:generate` would write; none if it would say that there are no changes. It changes
 * nothing, and reads the whole schema: some 10 to 40 ms.
 */
export async function schemaDifference(dataSource: DataSource): Promise<SchemaDifference> {
  const { upQueries, downQueries } = await dataSource.driver.createSchemaBuilder().log();
  // TypeORM lists what undoes each statement in the order of those; to undo them all, the last one comes first.
  return { up: upQueries, down: downQueries.toReversed() };
}
