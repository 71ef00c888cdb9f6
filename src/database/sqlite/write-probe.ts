import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CacheNeutralWrites } from '../cache-neutral-writes.js';
import { OneAtATime } from '../one-at-a-time.js';
import { LEAST_FREE_BYTES, freeBytesBeside } from './free-room.js';
import { fileOf, type SqliteDataSource } from './sqlite-data-source.js';

/** How often it is tried whether the database can be written again, in milliseconds. */
const PERIOD_MS = 1_000;
/** What is tried to write, in bytes. */
const TRIED_BYTES = 65_536;

/**
 * Finds out when a database that could not be written can be again. A write that succeeds does not tell: a small one fits where
 * the next does not. What is tried takes room and gives it back in the same transaction, so that nothing grows.
 */
@Injectable()
export class WriteProbe implements OnModuleInit, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private readonly tries = new OneAtATime(() => this.try());

  constructor(
    @Inject(DataSource) private readonly dataSource: SqliteDataSource,
    private readonly cacheNeutralWrites: CacheNeutralWrites,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.tries.run(), PERIOD_MS);
    // Nobody waits for this alone.
    this.timer.unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  private async try(): Promise<void> {
    const { dataSource } = this;
    if (dataSource.writeTrouble.current === undefined) return;
    try {
      if (!(await hasRoom(fileOf(dataSource)))) return;
      await this.cacheNeutralWrites.run(async (manager) => {
        await manager.query('SAVEPOINT room');
        await manager.query('CREATE TABLE room_for_writes (bytes blob)');
        await manager.query(`INSERT INTO room_for_writes VALUES (zeroblob(${TRIED_BYTES}))`);
        await manager.query('ROLLBACK TO SAVEPOINT room');
        await manager.query('RELEASE SAVEPOINT room');
      });
      dataSource.writeTrouble.end();
    } catch {
      // It is as it was, and told.
    }
  }
}

async function hasRoom(file: string | undefined): Promise<boolean> {
  return file === undefined || (await freeBytesBeside(file)) >= LEAST_FREE_BYTES;
}
