import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CacheNeutralWrites } from '../../cache-neutral-writes.js';
import { OneAtATime } from '../../one-at-a-time.js';
import { SqliteDataSource, fileOf } from '../sqlite-data-source.js';
import { LEAST_FREE_BYTES, freeBytesBeside } from './sqlite-errors.js';

/** Time between two attempts to write while the database cannot be written, in milliseconds. */
const PERIOD_MS = 1_000;
/** How much an attempt writes, in bytes. */
const TRIED_BYTES = 65_536;

/**
 * Finds out when a database that could not be written can be written again. A successful write of a request proves little: a small
 * one may fit where the next does not. An attempt takes 64 KiB and gives them back in the same transaction, so the file stays as
 * large as it is.
 */
@Injectable()
export class WriteProbe implements OnModuleInit, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private readonly tries = new OneAtATime(() => this.try());

  constructor(
    private readonly dataSource: DataSource,
    private readonly cacheNeutralWrites: CacheNeutralWrites,
  ) {}

  onModuleInit(): void {
    if (!(this.dataSource instanceof SqliteDataSource)) return;
    this.timer = setInterval(() => void this.tries.run(), PERIOD_MS);
    // The timer alone must not keep the process running.
    this.timer.unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  private async try(): Promise<void> {
    const { dataSource } = this;
    if (!(dataSource instanceof SqliteDataSource) || dataSource.troubles.reason === undefined) return;
    try {
      if (!(await hasRoom(fileOf(dataSource)))) return;
      await this.cacheNeutralWrites.run(async (manager) => {
        await manager.query('SAVEPOINT room');
        await manager.query('CREATE TABLE room_for_writes (bytes blob)');
        await manager.query(`INSERT INTO room_for_writes VALUES (zeroblob(${TRIED_BYTES}))`);
        await manager.query('ROLLBACK TO SAVEPOINT room');
        await manager.query('RELEASE SAVEPOINT room');
      });
      dataSource.troubles.writes.end();
    } catch {
      // It still cannot be written, which is in the log already.
    }
  }
}

async function hasRoom(file: string | undefined): Promise<boolean> {
  return file === undefined || (await freeBytesBeside(file)) >= LEAST_FREE_BYTES;
}
