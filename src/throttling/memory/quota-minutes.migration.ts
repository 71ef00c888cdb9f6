import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/** Table in which minute counters outlive the process, and by which other processes see them. */
export class QuotaMinutes1793491203000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'quota_minutes',
        columns: [
          { name: 'key', type: 'varchar', length: '200', isPrimary: true },
          { name: 'window_start', type: 'bigint' },
          { name: 'used', type: 'integer' },
        ],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('quota_minutes');
  }
}
