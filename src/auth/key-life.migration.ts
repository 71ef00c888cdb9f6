import { TableIndex, type MigrationInterface, type QueryRunner } from 'typeorm';

const COLUMNS = [
  ['clients', 'suspended_at', 'varchar(24)'],
  ['api_keys', 'label', 'varchar(255)'],
  ['api_keys', 'last_used_at', 'varchar(24)'],
  ['api_keys', 'replaced_by', 'varchar(36)'],
  ['api_keys', 'issued_until', 'varchar(24)'],
] as const;

/** Suspension of clients; label, last use and successor of keys. */
export class KeyLife1793491205000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // TypeORM would make an SQLite table anew for every column; both databases can simply add one.
    for (const [table, column, type] of COLUMNS)
      await runner.query(`ALTER TABLE "${table}" ADD COLUMN "${column}" ${type}`);
    await runner.query('UPDATE api_keys SET issued_until = expires_at');
    for (const table of ['clients', 'api_keys']) {
      const index = new TableIndex({ name: `${table}_created`, columnNames: ['created_at', 'id'] });
      await runner.createIndex(table, index);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['clients', 'api_keys']) await runner.dropIndex(table, `${table}_created`);
    for (const [table, column] of COLUMNS)
      await runner.query(`ALTER TABLE "${table}" DROP COLUMN "${column}"`);
  }
}
