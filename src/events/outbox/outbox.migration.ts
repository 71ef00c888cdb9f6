import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';

/** Adds the table of durable events that wait for their listeners. */
export class Outbox1793491221000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    const idType = runner.connection.options.type === 'sqlite' ? 'integer' : 'bigint';
    await runner.createTable(
      new Table({
        name: 'outbox_events',
        columns: [
          { name: 'id', type: idType, isPrimary: true, isGenerated: true, generationStrategy: 'increment' },
          { name: 'listener', type: 'varchar', length: '100' },
          { name: 'event', type: 'varchar', length: '100' },
          { name: 'key', type: 'varchar', length: '255' },
          { name: 'told', type: 'text' },
          { name: 'published_at', type: 'varchar', length: '24' },
          { name: 'failures', type: 'integer' },
          { name: 'due_at', type: 'bigint', isNullable: true },
          { name: 'error', type: 'varchar', length: '500', isNullable: true },
        ],
        indices: [
          { name: 'outbox_events_waiting', columnNames: ['listener', 'id'], where: 'due_at IS NOT NULL' },
          { name: 'outbox_events_key', columnNames: ['listener', 'key', 'due_at'] },
        ],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('outbox_events');
  }
}
