import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';

/** Adds the index for failing endpoints. */
export class WebhookFailing1795700002000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    const columnNames = ['failing_since', 'client_id'];
    await runner.createIndex(
      'webhook_endpoints',
      new TableIndex({ name: 'webhook_endpoints_failing', columnNames }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropIndex('webhook_endpoints', 'webhook_endpoints_failing');
  }
}
