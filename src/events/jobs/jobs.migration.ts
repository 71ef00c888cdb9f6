import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';

/** Adds tables for the schedule of jobs and the processes that run them. */
export class Jobs1793491220000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'leases',
        columns: [
          { name: 'name', type: 'varchar', length: '200', isPrimary: true },
          { name: 'holder', type: 'varchar', length: '36', isNullable: true },
          { name: 'beat', type: 'integer' },
        ],
      }),
    );
    await runner.createTable(
      new Table({
        name: 'jobs',
        columns: [
          { name: 'name', type: 'varchar', length: '100', isPrimary: true },
          { name: 'due_at', type: 'bigint' },
          { name: 'failures', type: 'integer' },
        ],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('jobs');
    await runner.dropTable('leases');
  }
}
