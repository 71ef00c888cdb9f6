import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Settings } from '../../core/config/settings.js';
import type { Database, OnlyServer, Serving } from '../../database/database.js';

/** How often a lock that was lost is claimed again, in milliseconds. */
const PERIOD_MS = 1_000;
/** After how many claims in a row the log has why they fail: for 25 s a server may keep a session that this process has lost. */
const TOLD_AFTER = 30;

/**
 * Without Redis a process counts quotas for itself. Where the database can tell (PostgreSQL), a second one therefore does not start
 * beside it, with or without Redis; processes on one SQLite file find each other later (OtherProcesses).
 */
@Injectable()
export class SoleProcessLock implements OnApplicationShutdown {
  private readonly logger = new Logger('Quota');
  private timer: NodeJS.Timeout | undefined;
  private refusals = 0;

  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: Settings,
  ) {}

  /** Claims the database for this process. Throws an Error that says what to do when another process serves it. */
  async begin(): Promise<void> {
    const server = this.server;
    if (server && !(await server.claim(this.serving, () => this.claimAgain(server))))
      throw new Error(this.taken);
  }

  /** Whether no other process serves the database, where it lets one alone serve and this one is it. */
  get isCertain(): boolean {
    return this.server !== undefined && this.serving === 'alone' && this.timer === undefined;
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.server?.release();
  }

  private get server(): OnlyServer | undefined {
    return (this.dataSource as Database).onlyServer;
  }

  private get serving(): Serving {
    return this.settings.redisUrl === null ? 'alone' : 'among others';
  }

  private get taken(): string {
    const which = this.serving === 'alone' ? 'Another instance' : 'An instance without REDIS_URL';
    return `${which} runs on this database. ${WHY}`;
  }

  private claimAgain(server: OnlyServer): void {
    if (this.timer) return;
    this.timer = setInterval(() => void this.attempt(server), PERIOD_MS);
    // The timer alone must not keep the process running.
    this.timer.unref();
  }

  private async attempt(server: OnlyServer): Promise<void> {
    try {
      if (!(await server.tryToClaim(this.serving, () => this.claimAgain(server)))) {
        this.refusals += 1;
        // The other one began while the database was away from this one.
        if (this.refusals === TOLD_AFTER) this.logger.error(this.taken);
        return;
      }
    } catch {
      // The database is away, which is in the log already.
      return;
    }
    clearInterval(this.timer);
    this.timer = undefined;
    this.refusals = 0;
  }
}

const WHY =
  'Without Redis each counts quotas for itself, so that a client could use its quota once in each. Set REDIS_URL in all of ' +
  'them, or stop the other one.';
