import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Metrics } from '../core/metrics/metrics.js';
import { type ConnectionLoad, Database } from './database.js';

/** Shows whether the database answers, and how the connections of a process to it are used. */
@Injectable()
export class DatabaseMetrics {
  constructor(metrics: Metrics, dataSource: DataSource) {
    if (!(dataSource instanceof Database)) return;
    const database = dataSource;
    metrics.gauge(
      'petstore_database_up',
      'Whether the database answers and can be written (1), as far as the latest requests have shown.',
      [],
      () => (database.reader.fault || database.writeTrouble.reason !== undefined ? 0 : 1),
    );
    const ofEach = (name: string, help: string, value: (load: ConnectionLoad) => number) =>
      metrics.gauge(name, help, [], () => value(database.load));
    metrics.gauge(
      'petstore_database_connections',
      'Connections to the database; on SQLite the one that writes.',
      ['state'],
      () => [
        { labels: { state: 'in_use' }, value: database.load.inUse },
        { labels: { state: 'idle' }, value: database.load.idle },
      ],
    );
    ofEach('petstore_database_connections_max', 'Most connections (DATABASE_POOL).', ({ most }) => most);
    ofEach(
      'petstore_database_waiting',
      'Statements and transactions that wait for a connection.',
      ({ waiting }) => waiting,
    );
  }
}
