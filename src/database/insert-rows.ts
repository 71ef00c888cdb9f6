import { type EntityManager, type EntityTarget, InsertResult, type ObjectLiteral } from 'typeorm';
import { PlainInsert } from './plain-insert.js';

/** A row of which the database tells no id, though it did not refuse it. */
class RowKeptOut extends Error {
  constructor() {
    super(
      'The database told no id of a row that it took: a trigger or ON CONFLICT has kept it out, or put it elsewhere.',
    );
  }
}

/**
 * Inserts rows by one statement, and answers for each what TypeORM would have answered to its own. Throws when not as many came back as
 * were sent, where the database answers what it generated of each row: nobody can tell then which.
 */
export async function insertTogether(
  manager: EntityManager,
  target: EntityTarget<ObjectLiteral>,
  rows: ObjectLiteral[],
): Promise<InsertResult[]> {
  const metadata = manager.connection.getMetadata(target);
  const { queryRunner } = manager;
  const plainly = queryRunner && (await PlainInsert.of(metadata)?.insert(queryRunner, rows));
  const result = plainly ?? (await manager.insert(target, rows));
  const isEachAnswered = metadata.getInsertionReturningColumns().length > 0;
  if (isEachAnswered && Array.isArray(result.raw) && result.raw.length !== rows.length)
    throw new RowKeptOut();
  return rows.map((_, index) => partOf(result, index, rows.length));
}

/**
 * Inserts each row by a statement of its own, and answers what TypeORM answered. `insertedCount` is a query that answers, as `inserted`,
 * how many rows the last statement inserted itself. Throws when it inserted none: the id that SQLite tells is that of an earlier row.
 */
export async function insertOneByOne(
  manager: EntityManager,
  target: EntityTarget<ObjectLiteral>,
  rows: readonly ObjectLiteral[],
  insertedCount: string,
): Promise<InsertResult[]> {
  const results: InsertResult[] = [];
  for (const row of rows) {
    results.push(await manager.insert(target, row));
    const [last] = await manager.query<{ inserted: number }[]>(insertedCount);
    if (last?.inserted === 0) throw new RowKeptOut();
  }
  return results;
}

/** What TypeORM would have answered to the INSERT of one of the rows. */
function partOf(
  { identifiers, generatedMaps, raw }: InsertResult,
  index: number,
  count: number,
): InsertResult {
  const part = new InsertResult();
  part.identifiers = identifiers.slice(index, index + 1);
  part.generatedMaps = generatedMaps.slice(index, index + 1);
  part.raw = rawOf(raw, index, count);
  return part;
}

/** A driver answers what it returned of each row, or as SQLite's the id of the last. */
function rawOf(raw: unknown, index: number, count: number): unknown {
  if (Array.isArray(raw)) return raw.slice(index, index + 1);
  if (typeof raw !== 'number' && typeof raw !== 'bigint') return raw;
  const id = BigInt(raw) - BigInt(count - index - 1);
  return Number.isSafeInteger(Number(id)) ? Number(id) : id;
}
