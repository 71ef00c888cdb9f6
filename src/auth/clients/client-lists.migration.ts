import { type MigrationInterface, type QueryRunner, TableColumn, TableIndex } from 'typeorm';

const INDEXES = [
  ['clients', 'clients_name', ['name', 'id']],
  ['clients', 'clients_plan', ['plan', 'created_at', 'id']],
  ['clients', 'clients_suspended', ['suspended_at']],
  ['api_keys', 'api_keys_prefix', ['prefix']],
  ['api_keys', 'api_keys_banned', ['banned_until', 'client_id']],
  ['api_keys', 'api_keys_expires', ['expires_at', 'client_id']],
] as const;

/** Adds the end of a key's last ban, and indexes for filters and sort orders of clients and keys. */
export class ClientLists1795700001000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    const column = { name: 'banned_until', type: 'varchar', length: '24', isNullable: true };
    await runner.addColumn('api_keys', new TableColumn(column));
    for (const [table, name, columnNames] of INDEXES)
      await runner.createIndex(table, new TableIndex({ name, columnNames: [...columnNames] }));
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [table, name] of INDEXES) await runner.dropIndex(table, name);
    await runner.query('ALTER TABLE "api_keys" DROP COLUMN "banned_until"');
  }
}
