import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Metrics } from '../core/metrics/metrics.js';
import type { Database } from './database.js';
import { fileOf } from './sqlite/sqlite-data-source.js';
import { freeDiskBytes, diskSizeBytes } from './sqlite/availability/sqlite-errors.js';

/** Metrics of the database: its availability, the use of its connections, and the disk space of an SQLite file. */
@Injectable()
export class DatabaseMetrics {
  constructor(metrics: Metrics, dataSource: DataSource) {
    const database = dataSource as Database;
    metrics.gauge(
      'petstore_database_up',
      'Whether the database responds and accepts writes (1), according to the latest requests.',
      [],
      () => (database.reader.error || database.writeAvailability.reason !== undefined ? 0 : 1),
    );
    metrics.gauge(
      'petstore_database_connections',
      'Connections to the database; on SQLite, only the one that writes.',
      ['state'],
      () => [
        { labels: { state: 'in_use' }, value: database.load.inUse },
        { labels: { state: 'idle' }, value: database.load.idle },
      ],
    );
    metrics.gauge(
      'petstore_database_connections_max',
      'Maximum number of connections (DATABASE_POOL).',
      [],
      () => database.load.max,
    );
    metrics.gauge(
      'petstore_database_waiting',
      'Statements and transactions that wait for a connection.',
      [],
      () => database.load.waiting,
    );
    const file = fileOf(database);
    if (file === undefined) return;
    metrics.gauge(
      'petstore_database_disk_free_bytes',
      'Free space on the disk that contains the SQLite file, in bytes.',
      [],
      () => freeDiskBytes(file),
    );
    metrics.gauge(
      'petstore_database_disk_size_bytes',
      'Size of the disk that contains the SQLite file, in bytes.',
      [],
      () => diskSizeBytes(file),
    );
  }
}
