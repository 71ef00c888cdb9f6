import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';

/** Adds the table of stored responses for retries. */
export class Idempotency1793491206000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'idempotency_entries',
        columns: [
          { name: 'client_id', type: 'varchar', length: '36', isPrimary: true },
          { name: 'key', type: 'varchar', length: '255', isPrimary: true },
          { name: 'digest', type: 'varchar', length: '64' },
          { name: 'status', type: 'integer' },
          { name: 'headers', type: 'text' },
          { name: 'body', type: 'text' },
          { name: 'created_at', type: 'varchar', length: '24' },
        ],
        indices: [{ name: 'idempotency_entries_created', columnNames: ['created_at'] }],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('idempotency_entries');
  }
}
