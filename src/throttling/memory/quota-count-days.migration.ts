import { TableIndex, type MigrationInterface, type QueryRunner } from 'typeorm';

/** By which the counts of days long past are found, among those of all clients and ninety days. */
export class QuotaCountDays1793491207000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const index = new TableIndex({ name: 'quota_counts_window', columnNames: ['window_start'] });
    await runner.createIndex('quota_counts', index);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropIndex('quota_counts', 'quota_counts_window');
  }
}
