import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The column of the last attempts of a delivery. */
export class WebhookAttempts1795957000000 implements MigrationInterface {
  readonly onlyExpands = true;

  /** In SQL: `addColumn()` would write every delivery again on SQLite. */
  async up(runner: QueryRunner): Promise<void> {
    const collation = runner.connection.options.type === 'postgres' ? 'COLLATE "C"' : '';
    await runner.query(`ALTER TABLE webhook_deliveries ADD COLUMN attempt_log text ${collation}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE webhook_deliveries DROP COLUMN attempt_log');
  }
}
