import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';

/** Table of the keys that were deleted with their client. */
export class DeletedKeys1795990000000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'deleted_keys',
        columns: [
          { name: 'id', type: 'varchar', length: '36', isPrimary: true },
          { name: 'client_id', type: 'varchar', length: '36' },
          { name: 'client_name', type: 'varchar', length: '255' },
          { name: 'prefix', type: 'varchar', length: '20' },
          { name: 'label', type: 'varchar', length: '255', isNullable: true },
          { name: 'deleted_at', type: 'varchar', length: '24' },
        ],
        indices: [{ name: 'deleted_keys_client', columnNames: ['client_id'] }],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('deleted_keys');
  }
}
