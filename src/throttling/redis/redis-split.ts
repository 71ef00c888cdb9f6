import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { Clock } from '../../core/time/clock.js';
import { Settings } from '../../core/config/settings.js';
import { DataVersion } from '../../database/data-version.js';
import type { Database } from '../../database/database.js';
import type { SideSession } from '../../database/postgres/side-session.js';
import { SharedDataVersion } from '../../database/shared-data-version.js';
import { Metrics } from '../../core/metrics/metrics.js';
import { QuotaStore } from '../quota-store.js';

/** How often a process that serves looks, in milliseconds. */
const LOOK_MS = 1_000;
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
const SAME = 'All instances on this database use the same Redis server again';

/**
 * Notices that instances on one database count in different Redis servers. What is in a Redis has a random name, which each
 * instance shows the others through the database while it uses that Redis: addresses prove nothing, because one server may have
 * two, and one address may lead to two servers. Where the database cannot know (SQLite), nothing is noticed.
 */
@Injectable()
export class RedisSplit implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Redis');
  private readonly told: Gauge | undefined;
  private readonly server: SideSession | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isEnded = false;
  /** Whether this process shows the others what it counts in: it serves. */
  private serves = false;
  /** The name under which all counted at the last look. */
  private common: string | undefined;
  /** Since when others count elsewhere, by the steady clock. */
  private since: number | undefined;
  private isTold = false;

  constructor(
    dataSource: DataSource,
    { redisUrl }: Settings,
    private readonly quotas: QuotaStore,
    version: DataVersion,
    metrics: Metrics,
    private readonly clock: Clock,
  ) {
    this.server = redisUrl === null ? undefined : (dataSource as Database).instanceSession;
    if (!this.server) return;
    if (version instanceof SharedDataVersion)
      version.isSplit = () => this.quotas.countsIn !== undefined && this.quotas.countsIn !== this.common;
    this.told = metrics.gauge(
      'petstore_quota_redis_split',
      'Whether another instance on this database counts in another Redis server (1) or none does (0).',
      [],
    );
    this.told.set(0);
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
    this.serves = true;
  }

  /** The command line checks this, too: a writer must know whether its Redis is that of the instances. */
  async onApplicationBootstrap(): Promise<void> {
    if (this.server) await this.look(this.server);
  }

  onApplicationShutdown(): void {
    this.isEnded = true;
    clearTimeout(this.timer);
  }

  /** Shows the others the name only if they show no other: one that will not start must not alarm those that run. */
  private async joins(server: SideSession): Promise<boolean> {
    const name = this.quotas.countsIn;
    if (name === undefined) return true;
    if (await server.isCountedElsewhere(name)) return false;
    await server.countsIn(name);
    if (!(await server.isCountedElsewhere(name))) return true;
    await server.countsIn(undefined);
    return false;
  }

  private async look(server: SideSession): Promise<void> {
    const name = this.quotas.countsIn;
    try {
      if (this.serves) await server.countsIn(name);
      if (name !== undefined) this.found(name, await server.isCountedElsewhere(name));
      else this.since = undefined;
    } catch {
      // The database is unavailable, which is in the log already.
    }
    if (this.isEnded) return;
    this.timer = setTimeout(() => void this.look(server), LOOK_MS).unref();
  }

  private found(name: string, isElsewhere: boolean): void {
    const now = this.clock.steady();
    this.common = isElsewhere ? undefined : name;
    this.since = isElsewhere ? (this.since ?? now) : undefined;
    const isLong = this.serves && now - (this.since ?? now) >= PATIENCE_MS;
    const isSplit = isElsewhere && (this.isTold || isLong);
    if (isSplit === this.isTold) return;
    this.isTold = isSplit;
    this.told?.set(isSplit ? 1 : 0);
    if (isSplit) this.logger.warn(OTHER);
    else this.logger.log(SAME);
  }
}
