import { type MigrationInterface, type QueryRunner, Table, TableColumn, TableIndex } from 'typeorm';

/** Tables of clients and their API keys. */
export class ClientsAndKeys1793491200000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'clients',
        columns: [
          { name: 'id', type: 'varchar', length: '36', isPrimary: true },
          { name: 'name', type: 'varchar', length: '255' },
          { name: 'plan', type: 'varchar', length: '20' },
          { name: 'per_minute', type: 'integer', isNullable: true },
          { name: 'per_day', type: 'integer', isNullable: true },
          { name: 'created_at', type: 'varchar', length: '24' },
        ],
        checks: [
          {
            name: 'clients_enterprise_limits',
            expression: `plan <> 'enterprise' OR (per_minute IS NOT NULL AND per_day IS NOT NULL)`,
          },
        ],
      }),
    );
    await runner.createTable(
      new Table({
        name: 'api_keys',
        columns: [
          { name: 'id', type: 'varchar', length: '36', isPrimary: true },
          { name: 'client_id', type: 'varchar', length: '36' },
          { name: 'digest', type: 'varchar', length: '64' },
          { name: 'prefix', type: 'varchar', length: '20' },
          { name: 'scopes', type: 'text' },
          { name: 'created_at', type: 'varchar', length: '24' },
          { name: 'expires_at', type: 'varchar', length: '24', isNullable: true },
          { name: 'revoked_at', type: 'varchar', length: '24', isNullable: true },
        ],
        indices: [
          { name: 'api_keys_client', columnNames: ['client_id'] },
          { name: 'api_keys_digest', columnNames: ['digest'], isUnique: true },
        ],
        foreignKeys: [
          {
            name: 'api_keys_of_client',
            columnNames: ['client_id'],
            referencedTableName: 'clients',
            referencedColumnNames: ['id'],
            onDelete: 'CASCADE',
          },
        ],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('api_keys');
    await runner.dropTable('clients');
  }
}

const COLUMNS = [
  ['clients', 'suspended_at', '24'],
  ['api_keys', 'label', '255'],
  ['api_keys', 'last_used_at', '24'],
  ['api_keys', 'replaced_by', '36'],
  ['api_keys', 'issued_until', '24'],
] as const;

/** Adds the suspension of clients, and the label, last use and successor of keys. */
export class KeyLife1793491205000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    for (const [table, name, length] of COLUMNS)
      await runner.addColumn(table, new TableColumn({ name, type: 'varchar', length, isNullable: true }));
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
