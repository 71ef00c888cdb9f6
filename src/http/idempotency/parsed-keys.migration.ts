import type { MigrationInterface, QueryRunner } from 'typeorm';
import { keyIn } from './idempotent.decorator.js';

interface StoredRow {
  readonly client_id: string;
  readonly key: string;
  readonly created_at: string;
}

/**
 * Removes double quotes from stored keys. If a key also exists without quotes, the later response is kept, because retries come soon, and a
 * retry of the earlier request is refused or gets this response, so nothing runs twice.
 */
export class ParsedIdempotencyKeys1795500000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const [one, two, three] = [0, 1, 2].map((at) => runner.connection.driver.createParameter(`p${at}`, at));
    const entry = `idempotency_entries WHERE client_id = ${one} AND key = ${two}`;
    // A parsed key is shorter than the sent one, so in this order it cannot collide with another quoted key.
    const quoted = (await runner.query(
      `SELECT client_id, key, created_at FROM idempotency_entries WHERE key LIKE '"%' ORDER BY length(key)`,
    )) as StoredRow[];
    for (const { client_id, key, created_at } of quoted) {
      const parsed = keyIn(key);
      if (parsed === undefined) continue;
      const [other] = (await runner.query(`SELECT created_at FROM ${entry}`, [
        client_id,
        parsed,
      ])) as StoredRow[];
      const isEarlier = other !== undefined && created_at <= other.created_at;
      if (other) await runner.query(`DELETE FROM ${entry}`, [client_id, isEarlier ? key : parsed]);
      if (!isEarlier)
        await runner.query(
          `UPDATE idempotency_entries SET key = ${one} WHERE client_id = ${two} AND key = ${three}`,
          [parsed, client_id, key],
        );
    }
  }

  /** The original form of a key is not stored. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
