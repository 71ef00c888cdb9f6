import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Settings } from '../../core/config/settings.js';
import { OneAtATime } from '../../database/one-at-a-time.js';
import { fileOf } from '../../database/sqlite/sqlite-data-source.js';
import { ProcessLockFiles } from '../../database/sqlite/process-lock-files.js';

/** How often the other processes are counted, in milliseconds. */
const PERIOD_MS = 5_000;

/**
 * Warns when several processes serve the same SQLite file without Redis: each keeps its own counts, so a client can use its quota
 * once in each of them.
 */
@Injectable()
export class OtherProcesses implements OnModuleDestroy {
  private readonly logger = new Logger('Quota');
  private readonly looks = new OneAtATime(() => this.look());
  private lockFiles: ProcessLockFiles | undefined;
  private timer: NodeJS.Timeout | undefined;
  private known = 0;
  /** Whether the last count failed; only the first failure is logged. */
  private isBlind = false;
  private ended = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: Settings,
  ) {}

  /** Registers this process as serving the database, and counts the others from now on. Never rejects. */
  async begin(): Promise<void> {
    if (fileOf(this.dataSource) === undefined) return;
    await this.looks.run();
    if (this.ended) return;
    this.timer = setInterval(() => void this.looks.run(), PERIOD_MS).unref();
  }

  /** Whether only this process serves an SQLite file; false if unknown. Call it after `begin`. Never rejects. */
  async isNone(): Promise<boolean> {
    if (this.isBlind) return false;
    return (await this.lockFiles?.others('left').catch(() => undefined)) === 0;
  }

  async onModuleDestroy(): Promise<void> {
    this.ended = true;
    clearInterval(this.timer);
    // Wait for a running count, which would create the lock file again.
    await this.looks.run();
    await this.lockFiles?.remove().catch(() => undefined);
  }

  private async look(): Promise<void> {
    const file = fileOf(this.dataSource);
    if (file === undefined || this.ended) return;
    try {
      this.lockFiles ??= await ProcessLockFiles.of(file);
      await this.lockFiles.keep();
      const others = await this.lockFiles.others('removed');
      if (this.settings.redisUrl === null) this.tell(others);
      if (this.isBlind) this.logger.log(`Other processes on ${file} can be notified again`);
      this.isBlind = false;
    } catch (error) {
      // For example a full disk or an unreadable folder; the next run tries again.
      if (!this.isBlind) this.logger.warn(`Other processes on ${file} cannot be notified: ${String(error)}`);
      this.isBlind = true;
    }
  }

  private tell(others: number): void {
    const before = this.known;
    this.known = others;
    const file = fileOf(this.dataSource);
    if (others > before)
      this.logger.warn(
        `${others + 1} processes serve ${file} without Redis, and each counts quotas for itself: a client can use its quota ` +
          'once in each. Set REDIS_URL in all of them, or run one.',
      );
    else if (others === 0 && before > 0) this.logger.log(`No other process serves ${file} any more`);
  }
}
