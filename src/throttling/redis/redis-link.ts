import { Logger } from '@nestjs/common';
import type { Counter, Gauge } from 'prom-client';
import type { Clock } from '../../core/time/clock.js';
import type { Metrics } from '../../core/metrics/metrics.js';
import { InstanceCount } from './instance-count.js';
import { type RedisClient, type RedisLocation, connectTo, reasonOf, redisClient } from './redis-client.js';
import { LateAnswers, withTimeout } from './redis-commands.js';
import type { RedisKeys } from './redis-keys.js';
import { toldReason } from './redis-remedies.js';

/** Time between two heartbeats, in milliseconds. */
const HEARTBEAT_MS = 2_000;
/** How long connecting may take, in milliseconds. */
const CONNECT_LIMIT_MS = 1_000;
/** Longest pause between two attempts to connect, in milliseconds: others count alone for so long after one instance is back. */
const RETRY_MS = 1_000;

const CLOSED = 'the connection was closed';

/** What the connection needs of the store above it. */
export interface RedisDuties {
  /** Does what a decision does, which shows more than a PING: scripts, permissions and latency are tried. */
  probe(): Promise<unknown>;
  /** Gives Redis the counts and bans that it does not have, or may have lost. */
  handOver(): Promise<void>;
}

/**
 * The connection to Redis, and whether it can be used; each change is one line of the log, and counted in a metric. Requests use it only
 * while `isUp`. One loop in the background beats while it is, and else connects again, so that no request waits for that.
 */
export class RedisLink {
  readonly redis: RedisClient;
  /** Whether requests may be decided in Redis. */
  isUp = false;
  readonly instances: InstanceCount;
  readonly late: LateAnswers;
  private readonly logger = new Logger('Redis');
  private readonly up: Gauge;
  private readonly changes: Counter<'to'>;
  private duties: RedisDuties | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isBeating = false;
  private isClosed = false;
  /** Whether Redis lacks counts or bans that this instance has. */
  private owes = false;
  /** Why the connection was refused; the error of a command only says that it could not be sent. */
  private refusal: unknown;

  /** A response of Redis is late after `limitMs` milliseconds. */
  constructor(
    location: RedisLocation,
    keys: RedisKeys,
    metrics: Metrics,
    clock: Clock,
    private readonly limitMs: number,
  ) {
    this.up = metrics.gauge(
      'petstore_quota_redis_up',
      'Whether quotas are counted in Redis (1) or by this instance alone (0).',
      [],
    );
    this.changes = metrics.counter(
      'petstore_quota_redis_changes_total',
      'Changes between counting in Redis and alone.',
      ['to'],
    );
    this.late = new LateAnswers(
      limitMs,
      () => this.isUp,
      (error) => this.failed(error),
    );
    this.redis = redisClient(location, { connectTimeout: CONNECT_LIMIT_MS });
    // The reason of a refused connection is only emitted here. Without a listener the event would end the process.
    for (const event of ['error', 'node error'])
      this.redis.on(event, (error: Error) => (this.refusal = reasonOf(error)));
    // That one node of a Cluster is gone is a failure, too: its replica may know less than it did.
    for (const event of ['close', '-node']) this.redis.on(event, () => this.failed(new Error(CLOSED)));
    this.instances = new InstanceCount(this.redis, keys, metrics, clock);
  }

  /** The random name of the data of the Redis that is used; undefined while none is. */
  get dataName(): string | undefined {
    return this.isUp ? this.instances.dataName : undefined;
  }

  /** From now on this process is one of the instances that share a limit when Redis fails. */
  join(): void {
    this.instances.join();
    if (this.isUp) this.schedule(0);
  }

  /** Connects, which takes about two seconds at most. Resolves without Redis too, and then retries in the background. */
  async open(duties: RedisDuties): Promise<void> {
    this.duties = duties;
    await this.beat();
    if (!this.isUp)
      this.logger.warn(
        `Redis cannot be used (${toldReason(this.refusal)}); quotas are counted by this instance alone until it can`,
      );
  }

  /** Records that Redis failed a request: from now on this instance counts by itself, until a probe succeeds. */
  failed(error: unknown): void {
    if (!this.isUp || this.isClosed) return;
    this.changed(false);
    this.logger.warn(
      `Redis failed (${toldReason(error)}); this instance counts alone, at 1/${this.instances.number} of what is left of each limit`,
    );
    // Commands that are still under way are cancelled as far as possible: their requests are decided locally.
    this.redis.disconnect();
    this.schedule();
  }

  /** Called when there is something that Redis does not know, or has lost: it is handed over at once, or when Redis is back. */
  owe(): void {
    if (this.owes) return;
    this.owes = true;
    if (this.isUp) this.schedule(0);
  }

  /** Hands over what Redis does not have yet, removes this instance from the count and disconnects. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    if (this.isUp) await this.leave().catch(() => undefined);
    this.redis.disconnect();
  }

  private async leave(): Promise<void> {
    if (this.owes) await this.duties?.handOver();
    await withTimeout(this.instances.leave(), this.limitMs);
  }

  /** Connects where Redis is not used, and then does all that an instance does there before requests may use it. */
  private async beat(): Promise<void> {
    this.isBeating = true;
    try {
      if (!this.isUp) await this.connect();
      await this.duties?.probe();
      const { isNew } = await this.late.inTime(this.instances.beat());
      // A Redis that does not know this instance, which sent a heartbeat two seconds ago, has lost its data.
      if (isNew || this.owes || !this.isUp) await this.pay();
      if (!this.isUp) this.back();
    } catch (error) {
      this.refusal ??= error;
      this.failed(error);
      // A new connection for each attempt: by then the name may lead to another server, or the password may be correct.
      this.redis.disconnect();
    }
    this.isBeating = false;
    this.schedule(this.owes ? 0 : HEARTBEAT_MS);
  }

  private async connect(): Promise<void> {
    this.refusal = undefined;
    if (this.redis.status !== 'ready') await connectTo(this.redis);
    this.instances.keep();
    // Redis may have to load the script for this probe; the next must be as fast as any decision.
    await this.duties?.probe().catch(() => undefined);
  }

  private back(): void {
    // The connection may have been closed since the last answer was received.
    if (this.redis.status !== 'ready') throw new Error(CLOSED);
    this.changed(true);
    this.logger.log('Quotas are counted in Redis');
  }

  private async pay(): Promise<void> {
    this.owes = false;
    try {
      await this.duties?.handOver();
    } catch (error) {
      this.owes = true;
      throw error;
    }
  }

  private changed(isUp: boolean): void {
    this.isUp = isUp;
    this.up.set(isUp ? 1 : 0);
    this.changes.inc({ to: isUp ? 'redis' : 'alone' });
  }

  /** A beat under way schedules the next itself. While Redis is unavailable, pauses are random so that the attempts of instances spread. */
  private schedule(pauseMs = HEARTBEAT_MS): void {
    if (this.isBeating || this.isClosed) return;
    clearTimeout(this.timer);
    const retryMs = RETRY_MS * (1 - Math.random() / 2);
    this.timer = setTimeout(() => void this.beat(), this.isUp ? pauseMs : retryMs).unref();
  }
}
