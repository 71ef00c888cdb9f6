import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';

/** Adds the table of notices between instances. */
export class InstanceNotices1795500002000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'instance_notices',
        columns: [
          { name: 'id', type: 'varchar', length: '36', isPrimary: true },
          { name: 'says', type: 'varchar', length: '10' },
          { name: 'beat', type: 'integer' },
        ],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('instance_notices');
  }
}
