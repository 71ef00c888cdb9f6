import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';

/** Tables of the adoptions and of the letters to adopters. */
export class Adoptions1795400000000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    // SQLite generates ids only for an `integer` primary key, which holds 64 bits there; PostgreSQL's `integer` has 32 bits.
    const idType = runner.connection.options.type === 'sqlite' ? 'integer' : 'bigint';
    await runner.createTable(
      new Table({
        name: 'adoptions',
        columns: [
          { name: 'id', type: idType, isPrimary: true, isGenerated: true, generationStrategy: 'increment' },
          { name: 'pet_id', type: 'bigint' },
          { name: 'adopter_name', type: 'varchar', length: '255' },
          { name: 'note', type: 'varchar', length: '1000', isNullable: true },
          { name: 'state', type: 'varchar', length: '9' },
          { name: 'requested_at', type: 'varchar', length: '24' },
          { name: 'decided_at', type: 'varchar', length: '24', isNullable: true },
        ],
        checks: [
          {
            name: 'adoptions_state_allowed',
            expression: `state IN ('requested', 'approved', 'declined', 'expired')`,
          },
        ],
        indices: [
          { name: 'adoptions_open', columnNames: ['pet_id'], isUnique: true, where: `state = 'requested'` },
          { name: 'adoptions_pet', columnNames: ['pet_id', 'id'] },
          { name: 'adoptions_pet_requested', columnNames: ['pet_id', 'requested_at', 'id'] },
          { name: 'adoptions_state', columnNames: ['state', 'id'] },
          { name: 'adoptions_state_requested', columnNames: ['state', 'requested_at', 'id'] },
          { name: 'adoptions_requested', columnNames: ['requested_at', 'id'] },
        ],
        foreignKeys: [
          {
            name: 'adoptions_of_pet',
            columnNames: ['pet_id'],
            referencedTableName: 'pets',
            referencedColumnNames: ['id'],
          },
        ],
      }),
    );
    await runner.createTable(
      new Table({
        name: 'adoption_letters',
        columns: [
          { name: 'delivery_id', type: 'bigint', isPrimary: true },
          { name: 'adoption_id', type: 'bigint' },
          { name: 'text', type: 'varchar', length: '1000' },
        ],
        foreignKeys: [
          {
            name: 'adoption_letters_of_adoption',
            columnNames: ['adoption_id'],
            referencedTableName: 'adoptions',
            referencedColumnNames: ['id'],
          },
        ],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('adoption_letters');
    await runner.dropTable('adoptions');
  }
}
