import { type MigrationInterface, type QueryRunner, Table, TableIndex } from 'typeorm';

const INDEXES = [
  new TableIndex({ name: 'refused_requests_code', columnNames: ['code', 'id'] }),
  new TableIndex({ name: 'refused_requests_operation', columnNames: ['operation', 'id'] }),
];

/** Adds the table of client alerts, and indexes for filters of last errors. */
export class ClientAlerts1795700000000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'client_alerts',
        columns: [
          { name: 'kind', type: 'varchar', length: '20', isPrimary: true },
          { name: 'window_start', type: 'bigint', isPrimary: true },
          { name: 'client_id', type: 'varchar', length: '36', isPrimary: true },
          { name: 'amount', type: 'integer' },
        ],
        indices: [
          { name: 'client_alerts_most', columnNames: ['kind', 'window_start', 'amount', 'client_id'] },
        ],
      }),
    );
    for (const index of INDEXES) await runner.createIndex('refused_requests', index);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name } of INDEXES) await runner.dropIndex('refused_requests', name ?? '');
    await runner.dropTable('client_alerts');
  }
}
