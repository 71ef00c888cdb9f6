import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/** Table of the audit trail. */
export class Audit1793491204000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    // SQLite generates ids only for an `integer` primary key, which holds 64 bits there; PostgreSQL's `integer` has 32 bits.
    const idType = runner.connection.options.type === 'sqlite' ? 'integer' : 'bigint';
    await runner.createTable(
      new Table({
        name: 'audit_entries',
        columns: [
          { name: 'id', type: idType, isPrimary: true, isGenerated: true, generationStrategy: 'increment' },
          { name: 'at', type: 'varchar', length: '24' },
          { name: 'action', type: 'varchar', length: '60' },
          { name: 'actor', type: 'varchar', length: '20' },
          { name: 'actor_key_id', type: 'varchar', length: '36', isNullable: true },
          { name: 'origin', type: 'varchar', length: '255', isNullable: true },
          { name: 'request_id', type: 'varchar', length: '128', isNullable: true },
          { name: 'client_id', type: 'varchar', length: '36', isNullable: true },
          { name: 'key_id', type: 'varchar', length: '36', isNullable: true },
          { name: 'details', type: 'text' },
        ],
        indices: [
          { name: 'audit_entries_client', columnNames: ['client_id', 'id'] },
          { name: 'audit_entries_key', columnNames: ['key_id', 'id'] },
        ],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('audit_entries');
  }
}
