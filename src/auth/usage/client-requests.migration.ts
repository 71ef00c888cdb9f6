import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { DAY_MS } from '../../core/time/duration.js';
import { DeprecatedCalls1793491208000 } from './deprecated-calls.migration.js';

/** Adds tables for the outcomes of requests. They replace the separate table of calls to deprecated operations. */
export class ClientRequests1795500003000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // SQLite generates ids only for an `integer` primary key, which holds 64 bits there; PostgreSQL's `integer` has 32 bits.
    const idType = runner.connection.options.type === 'sqlite' ? 'integer' : 'bigint';
    await runner.createTable(
      new Table({
        name: 'request_counts',
        columns: [
          { name: 'client_id', type: 'varchar', length: '36', isPrimary: true },
          { name: 'length_ms', type: 'integer', isPrimary: true },
          { name: 'window_start', type: 'bigint', isPrimary: true },
          { name: 'key_id', type: 'varchar', length: '36', isPrimary: true },
          { name: 'operation', type: 'varchar', length: '200', isPrimary: true },
          { name: 'outcome', type: 'varchar', length: '100', isPrimary: true },
          { name: 'bucket', type: 'integer', isPrimary: true },
          { name: 'requests', type: 'integer' },
        ],
        indices: [{ name: 'request_counts_window', columnNames: ['length_ms', 'window_start'] }],
      }),
    );
    await runner.createTable(
      new Table({
        name: 'refused_requests',
        columns: [
          { name: 'id', type: idType, isPrimary: true, isGenerated: true, generationStrategy: 'increment' },
          { name: 'at', type: 'varchar', length: '24' },
          { name: 'request_id', type: 'varchar', length: '128' },
          { name: 'client_id', type: 'varchar', length: '36' },
          { name: 'key_id', type: 'varchar', length: '36', isNullable: true },
          { name: 'operation', type: 'varchar', length: '200' },
          { name: 'status', type: 'integer' },
          { name: 'code', type: 'varchar', length: '96', isNullable: true },
          { name: 'address', type: 'varchar', length: '45', isNullable: true },
        ],
        indices: [
          { name: 'refused_requests_client', columnNames: ['client_id', 'id'] },
          { name: 'refused_requests_request', columnNames: ['request_id', 'id'] },
        ],
      }),
    );
    await runner.query(
      `INSERT INTO request_counts (client_id, length_ms, window_start, key_id, operation, outcome, bucket, requests)
       SELECT client_id, ${DAY_MS}, day, '', operation, 'deprecated', 0, calls FROM deprecated_calls`,
    );
    await runner.dropTable('deprecated_calls');
  }

  async down(runner: QueryRunner): Promise<void> {
    await new DeprecatedCalls1793491208000().up(runner);
    await runner.query(
      `INSERT INTO deprecated_calls (client_id, operation, day, calls)
       SELECT client_id, operation, window_start, SUM(requests) FROM request_counts
       WHERE outcome = 'deprecated' AND length_ms = ${DAY_MS} GROUP BY client_id, operation, window_start`,
    );
    await runner.dropTable('refused_requests');
    await runner.dropTable('request_counts');
  }
}
