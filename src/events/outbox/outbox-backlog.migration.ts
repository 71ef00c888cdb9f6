import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';

/** Adds an index that covers the queries for the number of waiting events and the age of the oldest. */
export class OutboxBacklog1793491222000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.createIndex(
      'outbox_events',
      new TableIndex({
        name: 'outbox_events_backlog',
        columnNames: ['listener', 'event', 'published_at', 'due_at'],
        where: 'due_at IS NOT NULL',
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropIndex('outbox_events', 'outbox_events_backlog');
  }
}
