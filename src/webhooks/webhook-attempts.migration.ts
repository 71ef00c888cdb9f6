import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the column for the last attempts of a delivery. */
export class WebhookAttempts1795957000000 implements MigrationInterface {
  readonly onlyExpands = true;

  /** In SQL, because `addColumn()` would rewrite all deliveries on SQLite. */
  async up(runner: QueryRunner): Promise<void> {
    const collation = runner.connection.options.type === 'postgres' ? 'COLLATE "C"' : '';
    await runner.query(`ALTER TABLE webhook_deliveries ADD COLUMN attempt_log text ${collation}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE webhook_deliveries DROP COLUMN attempt_log');
  }
}
