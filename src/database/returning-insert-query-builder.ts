import { type EntityMetadata, InsertQueryBuilder, InsertResult, type ObjectLiteral } from 'typeorm';
import type { QueryResult } from 'typeorm/query-runner/QueryResult.js';

/** Parameters of one statement; SQLite takes 32,766 and PostgreSQL 65,535. */
const MAX_PARAMETERS = 30_000;

/**
 * Sets on inserted entities what the database returned for each. TypeORM takes the rows by their places, also when there are fewer
 * than were inserted, because a conflict or a trigger has left some out: then it is unknown whose they are, and nothing is set.
 */
export class ReturningInsertQueryBuilder<Entity extends ObjectLiteral> extends InsertQueryBuilder<Entity> {
  override async execute(): Promise<InsertResult> {
    const ownRunner = this.queryRunner;
    const runner = this.obtainQueryRunner();
    const { expressionMap } = this;
    const rows = this.getValueSets();
    // Outside of a transaction, one statement inserts all or none.
    const batchSize = runner.isTransactionActive
      ? Math.max(1, Math.floor(MAX_PARAMETERS / Math.max(1, this.getInsertedColumns().length)))
      : Infinity;
    const results: InsertResult[] = [];
    try {
      for (let at = 0; at === 0 || at < rows.length; at += batchSize) {
        const part = rows.slice(at, at + batchSize);
        const returned: { raw?: unknown } = {};
        const query = async (...args: [string, unknown[], true]): Promise<QueryResult> => {
          const result = await runner.query(...args);
          returned.raw = result.raw as unknown;
          // An id that TypeORM has made is not that of a row that was there.
          expressionMap.locallyGenerated = {};
          if (Array.isArray(result.raw) && result.raw.length !== part.length) result.raw = [];
          return result;
        };
        this.queryRunner = Object.create(runner, { query: { value: query } }) as typeof runner;
        expressionMap.valuesSet = part;
        const result = await super.execute();
        results.push(Object.assign(result, returned));
      }
    } finally {
      this.queryRunner = ownRunner;
      expressionMap.valuesSet = rows;
      if (runner !== ownRunner) await runner.release();
    }
    return results.length === 1 && results[0] ? results[0] : joined(results);
  }
}

function joined(results: readonly InsertResult[]): InsertResult {
  return Object.assign(new InsertResult(), {
    raw: results.flatMap(({ raw }) => raw as unknown[]),
    identifiers: results.flatMap(({ identifiers }) => identifiers),
    generatedMaps: results.flatMap(({ generatedMaps }) => generatedMaps),
  });
}

/** What the database has generated for a row, as its properties have it. TypeORM's own version leaves an int64 as text. */
export function generatedValues(
  metadata: EntityMetadata,
  returned: ObjectLiteral | undefined,
): ObjectLiteral | undefined {
  if (!returned) return undefined;
  const values: ObjectLiteral = {};
  for (const [name, value] of Object.entries(returned)) {
    const column = metadata.findColumnWithDatabaseName(name);
    if (column) column.setEntityValue(values, metadata.connection.driver.prepareHydratedValue(value, column));
  }
  return values;
}
