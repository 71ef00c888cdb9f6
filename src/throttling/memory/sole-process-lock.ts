import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Settings } from '../../core/config/settings.js';
import type { Database } from '../../database/database.js';
import type { Serving, SideSession } from '../../database/postgres/side-session.js';
import { QuotaStore } from '../quota-store.js';

/** How long a start waits for the process before it to end, in milliseconds. */
const WAIT_MS = 3_000;
/**
 * For how long others may count under another name before it means another Redis, in milliseconds: when Redis has lost its data, an
 * instance takes over the name that another gave it with its next heartbeat, and shows it a second later.
 */
const OTHER_REDIS_MS = 8_000;
/** Mean pause between two looks of a start, in milliseconds. */
const START_CHECK_MS = 250;
/** How often a process that serves makes sure of it, in milliseconds. */
const PERIOD_MS = 1_000;
/** After how many claims in a row the log has why they fail: for 25 s a server may keep a session that this process has lost. */
const LOG_AFTER = 30;

/**
 * Lets a process serve only beside those that it can count quotas with. Without Redis a process counts for itself, so on PostgreSQL a
 * second one does not start beside it, with or without Redis; an SQLite file has one server in any case (ServerLock). With Redis, one that
 * would count in another Redis than the others on its PostgreSQL does not start. What is in a Redis has a random name, which each instance
 * shows the others through the database: addresses prove nothing, because one server may have two, and one address may lead to two servers.
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

  /** Claims the database for this process. Throws an Error that says what to do when a process serves beside which it must not. */
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

  private get server(): SideSession | undefined {
    return (this.dataSource as Database).instanceSession;
  }

  private get serving(): Serving {
    return this.settings.redisUrl === null ? 'alone' : 'among others';
  }

  /** Shows the others the name of the counts only if they show no other: two that start at the same time must see each other. */
  private async sharesRedis(server: SideSession): Promise<boolean> {
    const name = this.quotas.countsIn;
    if (name === undefined) return true;
    if (await server.isCountedElsewhere(name)) return false;
    await server.countsIn(name);
    if (!(await server.isCountedElsewhere(name))) return true;
    await server.countsIn(undefined);
    return false;
  }

  /** A lock whose session was lost is claimed again. */
  private async check(server: SideSession): Promise<void> {
    try {
      this.refusals = (await server.claim(this.serving)) ? 0 : this.refusals + 1;
      // The other one began while this one could not reach the database.
      if (this.refusals === LOG_AFTER) this.logger.error(lockedFor(this.serving));
      const { countsIn } = this.quotas;
      // While Redis fails, it stays the Redis of this instance.
      if (countsIn !== undefined) await server.countsIn(countsIn);
    } catch {
      // The database is unavailable, which is in the log already.
    }
  }
}

/**
 * Why a start would be refused beside the instances that run on the database now, undefined if it would not; claims nothing. A process
 * that serves alone may be the service itself, so it does not refuse another that would. `countsIn` reads the name of the counts in Redis.
 */
export async function refusalFor(
  server: SideSession,
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

/** Asks again and again until the response is yes; throws the refusal after this time. */
async function until(limitMs: number, claim: () => Promise<boolean>, refusal: string): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await claim())) {
    if (performance.now() >= end) throw new Error(refusal);
    // Two that start at the same time and differ must not meet each other each time.
    await pause(START_CHECK_MS * (0.5 + Math.random()));
  }
}

const REASONS =
  'Without Redis, each instance counts quotas on its own, so a client can use its quota once per instance. Set REDIS_URL for all of ' +
  'them, or stop the other instance.';

const OTHER_REDIS =
  'Another instance on this database uses a different Redis server, so a client can use its quota once per server. Set the same ' +
  'REDIS_URL for all instances.';
