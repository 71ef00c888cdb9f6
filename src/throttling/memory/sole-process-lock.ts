import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Settings } from '../../core/config/settings.js';
import type { Database } from '../../database/database.js';
import type { Serving, SideSession } from '../../database/postgres/side-session.js';

/** How long a start waits for the process before it to end, in milliseconds. */
const PATIENCE_MS = 3_000;
/** How often it looks, in milliseconds. */
const START_LOOK_MS = 250;
/** How often a process that serves makes sure of it, in milliseconds. */
const PERIOD_MS = 1_000;
/** After how many claims in a row the log has why they fail: for 25 s a server may keep a session that this process has lost. */
const TOLD_AFTER = 30;

/**
 * Without Redis a process counts quotas for itself. On PostgreSQL a second one therefore does not start beside it, with or
 * without Redis; an SQLite file has one server in any case (ServerLock).
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
    const { server } = this;
    if (!server) return;
    const until = performance.now() + PATIENCE_MS;
    while (!(await server.claim(this.serving))) {
      if (performance.now() >= until) throw new Error(this.taken);
      await pause(START_LOOK_MS);
    }
    this.timer = setInterval(() => void this.look(server), PERIOD_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.server?.release();
  }

  private get server(): SideSession | undefined {
    return (this.dataSource as Database).instanceSession;
  }

  private get serving(): Serving {
    return this.settings.redisUrl === null ? 'alone' : 'among others';
  }

  private get taken(): string {
    const which = this.serving === 'alone' ? 'Another instance' : 'An instance without REDIS_URL';
    return `${which} runs on this database. ${WHY}`;
  }

  /** A lock whose session was lost is claimed again. */
  private async look(server: SideSession): Promise<void> {
    try {
      this.refusals = (await server.claim(this.serving)) ? 0 : this.refusals + 1;
      // The other one began while this one could not reach the database.
      if (this.refusals === TOLD_AFTER) this.logger.error(this.taken);
    } catch {
      // The database is unavailable, which is in the log already.
    }
  }
}

const WHY =
  'Without Redis each counts quotas for itself, so that a client can use its quota once in each. Set REDIS_URL in all of ' +
  'them, or stop the other one.';
