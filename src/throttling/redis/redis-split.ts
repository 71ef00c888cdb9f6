import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../core/time/clock.js';
import { Settings } from '../../core/config/settings.js';
import type { Database } from '../../database/database.js';
import type { SideSession } from '../../database/postgres/side-session.js';
import { QuotaStore } from '../quota-store.js';

/** How often a process that serves shows its Redis, in milliseconds: its session may have been lost, or Redis its data. */
const SHOW_MS = 1_000;
/** Mean pause between two looks of a start, in milliseconds. */
const START_LOOK_MS = 250;
/**
 * For how long others may count under another name before it means another Redis, in milliseconds: when Redis has lost its data, an
 * instance takes over the name that another gave it with its next heartbeat (2 s), and shows it with its next look.
 */
const PATIENCE_MS = 8_000;

const OTHER =
  'Another instance on this database uses another Redis server, so that a client can use its quota once in each. Give all of ' +
  'them the same REDIS_URL.';

/**
 * Refuses the start of an instance whose Redis is not that of the others on its database. What is in a Redis has a random name, which each
 * instance shows the others through the database while it uses that Redis: addresses prove nothing, because one server may have
 * two, and one address may lead to two servers. Where the database cannot know (SQLite), nothing is refused.
 */
@Injectable()
export class RedisSplit implements OnApplicationShutdown {
  private readonly server: SideSession | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    dataSource: DataSource,
    { redisUrl }: Settings,
    private readonly quotas: QuotaStore,
    private readonly clock: Clock,
  ) {
    this.server = redisUrl === null ? undefined : (dataSource as Database).instanceSession;
  }

  /** Throws an Error that says what to do when this process would serve beside others that use another Redis. */
  async begin(): Promise<void> {
    const { server } = this;
    if (!server) return;
    const until = this.clock.steady() + PATIENCE_MS;
    while (!(await this.joins(server))) {
      if (this.clock.steady() >= until) throw new Error(OTHER);
      // Two that start at the same time and differ must not meet each other each time.
      await pause(START_LOOK_MS * (0.5 + Math.random()));
    }
    // The database may be unavailable, which is in the log already.
    const show = () => void server.countsIn(this.quotas.countsIn).catch(() => undefined);
    this.timer = setInterval(show, SHOW_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Shows the others the name only if they show no other: one that will not start must not keep others from starting. */
  private async joins(server: SideSession): Promise<boolean> {
    const name = this.quotas.countsIn;
    if (name === undefined) return true;
    if (await server.isCountedElsewhere(name)) return false;
    await server.countsIn(name);
    if (!(await server.isCountedElsewhere(name))) return true;
    await server.countsIn(undefined);
    return false;
  }
}
