import { type MigrationInterface, type QueryRunner, Table, TableIndex } from 'typeorm';

/** Adds tables that preserve daily counts and bans across restarts. */
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

/** Adds a table that preserves minute counts across restarts and shows them to other processes. */
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

/** Adds an index for deleting daily counts older than ninety days. */
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
