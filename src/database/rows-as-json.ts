import type { EntityManager } from 'typeorm';
import type { Database } from './database.js';
import type { Dialect } from './dialect.js';

/**
 * Runs one statement for all of these rows. `statement` receives an item for FROM with a row for each of them and its members in the column
 * `value`, such as `value ->> 'id'`. They are passed as one parameter, so that their number is not limited. Does nothing without rows.
 */
export async function runForRows(
  manager: EntityManager,
  rows: readonly object[],
  statement: (rows: string, dialect: Dialect) => string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<void> {
  if (rows.length === 0) return;
  const { driver, dialect } = manager.connection as Database;
  const sql = statement(dialect.elements(':rows'), dialect);
  await manager.query(
    ...driver.escapeQueryWithParameters(sql, { ...parameters, rows: JSON.stringify(rows) }, {}),
  );
}
