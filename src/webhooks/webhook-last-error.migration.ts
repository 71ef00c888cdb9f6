import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The column that says why the last attempt of an endpoint failed. */
export class WebhookLastError1795986000000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    const collation = runner.connection.options.type === 'postgres' ? 'COLLATE "C"' : '';
    await runner.query(`ALTER TABLE webhook_endpoints ADD COLUMN last_error varchar(500) ${collation}`);
    await runner.query(`
      UPDATE webhook_endpoints SET last_error = (
        SELECT error FROM webhook_deliveries
        WHERE endpoint_id = webhook_endpoints.id AND state = 'waiting' ORDER BY webhook_deliveries.id LIMIT 1)
      WHERE failures > 0`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE webhook_endpoints DROP COLUMN last_error');
  }
}
