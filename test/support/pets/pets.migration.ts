import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/** Table of the animals. */
export class Pets1793491201000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    // SQLite generates ids only for an `integer` primary key, which holds 64 bits there; PostgreSQL's `integer` has 32 bits.
    const idType = runner.connection.options.type === 'sqlite' ? 'integer' : 'bigint';
    await runner.createTable(
      new Table({
        name: 'pets',
        columns: [
          { name: 'id', type: idType, isPrimary: true, isGenerated: true, generationStrategy: 'increment' },
          { name: 'name', type: 'varchar', length: '255' },
          { name: 'category_id', type: 'bigint' },
          { name: 'status', type: 'varchar', length: '9' },
        ],
        checks: [{ name: 'pets_status_allowed', expression: `status IN ('available', 'pending', 'sold')` }],
        indices: [{ name: 'pets_status_id', columnNames: ['status', 'id'] }],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('pets');
  }
}
