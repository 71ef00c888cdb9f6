import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Settings } from '../../core/config/settings.js';
import type { Database } from '../../database/database.js';
import type { Serving, LockSession } from '../../database/postgres/lock-session.js';
import { QuotaStore } from '../quota-store.js';

/** How long startup waits for the previous process to exit, in milliseconds. */
const WAIT_MS = 3_000;
/**
 * How long others may report another name for the counts before it means another Redis, in milliseconds. When Redis has lost its data, an
 * instance adopts a new name with its next heartbeat, and reports it a second later.
 */
const OTHER_REDIS_MS = 8_000;
/** Mean interval between two checks at startup, in milliseconds. */
const START_CHECK_MS = 250;
/** Interval between two checks of a running process, in milliseconds. */
const PERIOD_MS = 1_000;
/** Number of consecutive failed claims before the reason is logged, because a server may keep a lost session of this process for 25 s. */
const LOG_AFTER = 30;

/**
 * Lets a process serve only alongside processes that share its quotas. Without Redis, a process counts on its own, so no second process may
 * start on the same PostgreSQL database, with or without Redis (an SQLite file has one server anyway, see ServerLock). With Redis, a
 * process that uses a different Redis than the others does not start. Each Redis has a random name in it, which instances exchange through
 * the database. Comparing addresses would prove nothing: one server can have two, and one address can lead to two servers.
 */
@Injectable()
export class SoleProcessLock implements OnApplicationShutdown {
  private readonly logger = new Logger('Quota');
  private timer: NodeJS.Timeout | undefined;
  private refusals = 0;

  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: Settings,
    private readonly quotas: QuotaStore,
  ) {}

  /** Claims the database for this process. If a conflicting process is running, throws an Error that says what to do. */
  async start(): Promise<void> {
    const { server } = this;
    if (!server) return;
    await until(WAIT_MS, () => server.claim(this.serving), lockedFor(this.serving));
    if (this.serving === 'among others')
      await until(OTHER_REDIS_MS, () => this.sharesRedis(server), OTHER_REDIS);
    this.timer = setInterval(() => void this.check(server), PERIOD_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.server?.release();
  }

  private get server(): LockSession | undefined {
    return (this.dataSource as Database).instanceSession;
  }

  private get serving(): Serving {
    return this.settings.redisUrl === null ? 'alone' : 'among others';
  }

  /**
   * Reports the name of the counts, unless another process reports a different name. Checks again after reporting, so that of two processes
   * that start at the same time, at least one sees the other.
   */
  private async sharesRedis(server: LockSession): Promise<boolean> {
    const name = this.quotas.countsIn;
    if (name === undefined) return true;
    if (await server.isCountedElsewhere(name)) return false;
    await server.countsIn(name);
    if (!(await server.isCountedElsewhere(name))) return true;
    await server.countsIn(undefined);
    return false;
  }

  /** Claims the lock again after its session was lost. */
  private async check(server: LockSession): Promise<void> {
    try {
      this.refusals = (await server.claim(this.serving)) ? 0 : this.refusals + 1;
      // The other process started while this one could not reach the database.
      if (this.refusals === LOG_AFTER) this.logger.error(lockedFor(this.serving));
      const { countsIn } = this.quotas;
      // While Redis is down, the last known name still applies.
      if (countsIn !== undefined) await server.countsIn(countsIn);
    } catch {
      // The database is unavailable, which is already logged.
    }
  }
}

/**
 * Why startup would be refused alongside the instances that run now; undefined if it would not. Claims nothing. A process that serves alone
 * may be the service itself, so it is no reason to refuse a process without Redis. `countsIn` reads the name of the counts in Redis.
 */
export async function refusalFor(
  server: LockSession,
  serving: Serving,
  countsIn: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const existing = await server.served();
  if (existing === undefined || (existing === 'alone' && serving === 'alone')) return undefined;
  if (existing !== serving) return lockedFor(serving);
  const name = await countsIn();
  return name !== undefined && (await server.isCountedElsewhere(name)) ? OTHER_REDIS : undefined;
}

function lockedFor(serving: Serving): string {
  const which = serving === 'alone' ? 'Another instance' : 'An instance without REDIS_URL';
  return `${which} runs on this database. ${REASONS}`;
}

/** Retries a claim until it succeeds; throws the refusal after this time. */
async function until(limitMs: number, claim: () => Promise<boolean>, refusal: string): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await claim())) {
    if (performance.now() >= end) throw new Error(refusal);
    // Random, so that two conflicting processes that start at the same time do not collide every time.
    await pause(START_CHECK_MS * (0.5 + Math.random()));
  }
}

const REASONS =
  'Without Redis, each instance counts quotas on its own, so a client can use its quota once per instance. Set REDIS_URL for all of ' +
  'them, or stop the other instance.';

const OTHER_REDIS =
  'Another instance on this database uses a different Redis server, so a client can use its quota once per server. Set the same ' +
  'REDIS_URL for all instances.';
