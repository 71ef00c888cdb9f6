import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Settings } from '../../config/settings.js';
import { OneAtATime } from '../../database/one-at-a-time.js';
import { fileOf } from '../../database/sqlite/sqlite-data-source.js';
import { ProcessMarks } from '../../database/sqlite/process-marks.js';

/** How often it is looked for processes that have begun or ended, in milliseconds. */
const PERIOD_MS = 5_000;

/**
 * Tells of other processes that serve the same SQLite file without Redis: each counts for itself, so that a client can use its
 * quota once in each of them.
 */
@Injectable()
export class OtherProcesses implements OnModuleDestroy {
  private readonly logger = new Logger('Quota');
  private readonly looks = new OneAtATime(() => this.look());
  private marks: ProcessMarks | undefined;
  private timer: NodeJS.Timeout | undefined;
  private known = 0;

  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: Settings,
  ) {}

  /** Marks this process as one that serves the database, and looks for others from now on. Never throws. */
  async begin(): Promise<void> {
    const file = fileOf(this.dataSource);
    if (file === undefined) return;
    try {
      const marks = await ProcessMarks.of(file);
      await marks.set();
      this.marks = marks;
    } catch (error) {
      this.logger.warn(`Other processes on ${file} cannot be told: ${String(error)}`);
      return;
    }
    await this.looks.run();
    this.timer = setInterval(() => void this.looks.run(), PERIOD_MS);
    // Nobody waits for this alone.
    this.timer.unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.marks?.remove().catch(() => undefined);
  }

  private async look(): Promise<void> {
    if (!this.marks || this.settings.redisUrl !== null) return;
    try {
      this.tell(await this.marks.others());
    } catch {
      // The folder cannot be read; the next look may.
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
