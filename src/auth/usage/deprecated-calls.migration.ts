import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';

/** Adds the table of clients that still call deprecated operations. */
export class DeprecatedCalls1793491208000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'deprecated_calls',
        columns: [
          { name: 'client_id', type: 'varchar', length: '36', isPrimary: true },
          { name: 'operation', type: 'varchar', length: '200', isPrimary: true },
          { name: 'day', type: 'bigint', isPrimary: true },
          { name: 'calls', type: 'integer' },
        ],
        indices: [{ name: 'deprecated_calls_day', columnNames: ['day'] }],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('deprecated_calls');
  }
}
