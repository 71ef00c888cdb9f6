import { type MigrationInterface, type QueryRunner, Table, TableIndex } from 'typeorm';

/** Tables that keep the counts of days and the bans over a restart. */
export class QuotaJournal1793491202000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'quota_counts',
        columns: [
          { name: 'key', type: 'varchar', length: '200', isPrimary: true },
          { name: 'window_start', type: 'bigint', isPrimary: true },
          { name: 'used', type: 'integer' },
        ],
      }),
    );
    await runner.createTable(
      new Table({
        name: 'key_bans',
        columns: [
          { name: 'key_id', type: 'varchar', length: '36', isPrimary: true },
          { name: 'retry_at', type: 'bigint' },
          { name: 'forgiven_until', type: 'bigint' },
          { name: 'strikes', type: 'integer' },
          { name: 'last_strike_at', type: 'bigint' },
          { name: 'bans', type: 'integer' },
          { name: 'banned_until', type: 'bigint' },
          { name: 'lifted_at', type: 'bigint' },
        ],
        indices: [{ name: 'key_bans_lifted', columnNames: ['lifted_at'] }],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('key_bans');
    await runner.dropTable('quota_counts');
  }
}

/** Table that keeps the counts of minutes over a restart and shows them to other processes. */
export class QuotaMinutes1793491203000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'quota_minutes',
        columns: [
          { name: 'key', type: 'varchar', length: '200', isPrimary: true },
          { name: 'window_start', type: 'bigint' },
          { name: 'used', type: 'integer' },
        ],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('quota_minutes');
  }
}

/** Index by which the sweeper finds the counts of days that are more than ninety days old. */
export class QuotaCountDays1793491207000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    const index = new TableIndex({ name: 'quota_counts_window', columnNames: ['window_start'] });
    await runner.createIndex('quota_counts', index);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropIndex('quota_counts', 'quota_counts_window');
  }
}
