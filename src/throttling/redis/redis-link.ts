import { randomUUID } from 'node:crypto';
import { setImmediate as immediate } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { Counter, Gauge } from 'prom-client';
import type { Clock } from '../../core/time/clock.js';
import type { Metrics } from '../../core/metrics/metrics.js';
import {
  type RedisClient,
  type RedisLocation,
  connectWithin,
  losesData,
  mastersOf,
  prepare,
  reasonOf,
  redisClient,
} from './redis-client.js';
import type { RedisKeys } from './redis-keys.js';
import { describedReason } from './redis-remedies.js';
import { BEAT_SCRIPT } from './redis-scripts.js';

/** Interval between two heartbeats, in milliseconds. */
const BEAT_MS = 1_000;
/** An instance without a heartbeat for this time, in milliseconds, no longer counts. */
const STALE_MS = 10_000;
/**
 * How long a smaller number of instances is ignored, in milliseconds, because after an outage all heartbeats have expired, and the first
 * instance to reconnect would see only itself.
 */
const OUTAGE_GRACE_MS = 15_000;
/** Time limit to connect to one server, in milliseconds. */
const CONNECT_LIMIT_MS = 1_000;
/** How long startup waits for the connection, in milliseconds, including a query to a Sentinel. */
const OPEN_LIMIT_MS = 2 * CONNECT_LIMIT_MS;
/** How long the unused name of the data is kept, in milliseconds. */
const DATA_NAME_MS = 86_400_000;
const CLOSED = 'the connection was closed';

interface BeatCommand {
  beatQuota(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
}

/**
 * The connection to Redis, and whether requests may use it. Each change is logged and counted in a metric. A heartbeat registers this
 * instance with the others, counts them, and detects that Redis is available again.
 */
export class RedisLink {
  readonly redis: RedisClient;
  /** Whether requests can be decided in Redis. */
  isUp = false;
  /** The number to divide limits by, at least 1. An increase applies immediately, a decrease after 15 seconds of unbroken heartbeats. */
  instances = 1;
  private readonly logger = new Logger('Redis');
  private readonly id = randomUUID();
  /**
   * The random name of the data in this Redis. If Redis has lost its data, the first instance to reconnect stores its name again, and the
   * others adopt it.
   */
  private name: string = randomUUID();
  private readonly metrics: {
    readonly up: Gauge;
    readonly changes: Counter<'to'>;
    readonly instances: Gauge;
    readonly persistent: Gauge;
  };
  private probe: () => Promise<unknown> = () => Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private hasJoined = false;
  private isClosed = false;
  private graceUntil = 0;
  /** Why the last connection was refused; the error of a command says only that it could not be sent. */
  private refusal: Error | undefined;

  /** A command that takes longer than `limitMs` milliseconds fails. */
  constructor(
    location: RedisLocation,
    private readonly keys: RedisKeys,
    metrics: Metrics,
    private readonly clock: Clock,
    limitMs: number,
  ) {
    this.metrics = {
      up: metrics.gauge(
        'petstore_quota_redis_up',
        'Whether quotas are counted in Redis (1) or in this instance alone (0).',
        [],
      ),
      changes: metrics.counter(
        'petstore_quota_redis_changes_total',
        'Switches between counting in Redis and counting in this instance alone.',
        ['to'],
      ),
      instances: metrics.gauge(
        'petstore_quota_redis_instances',
        'Instances that count in Redis, as last seen; an instance that counts alone divides limits by this number.',
        [],
      ),
      persistent: metrics.gauge(
        'petstore_quota_redis_persistent',
        'Whether Redis keeps its data when it restarts (1), or loses all counts and bans (0). Also 1 if its user lacks permission to find out.',
      ),
    };
    this.metrics.instances.set(this.instances);
    const limits = { connectTimeout: CONNECT_LIMIT_MS, commandTimeout: limitMs };
    this.redis = redisClient(location, limits);
    this.redis.defineCommand('beatQuota', { lua: BEAT_SCRIPT });
    // Without a listener, ioredis would log errors itself.
    for (const event of ['error', 'node error'])
      this.redis.on(event, (error: Error) => (this.refusal = reasonOf(error)));
    // The loss of one Cluster node counts as a failure, because its replica may lag behind.
    const closed = () => {
      if (this.isUp) this.failed(new Error(CLOSED));
    };
    for (const event of ['close', '-node']) this.redis.on(event, closed);
  }

  /** The random name of the data of the connected Redis; undefined while disconnected. */
  get dataName(): string | undefined {
    return this.isUp ? this.name : undefined;
  }

  /** Counts this process, from its next heartbeat, as one of the instances that share limits during an outage of Redis. */
  join(): void {
    this.hasJoined = true;
  }

  /**
   * Connects and starts the heartbeats. Without Redis, resolves after about two seconds at most. `probe` makes a decision, which tests more
   * than a heartbeat: permissions for scripts and commands, and available memory.
   */
  async open(probe: () => Promise<unknown>): Promise<void> {
    this.probe = probe;
    await connectWithin(this.redis, OPEN_LIMIT_MS).catch((error: Error) => (this.refusal ??= error));
    const reason = await this.beat();
    if (!this.isUp)
      this.logger.warn(
        `Redis cannot be used (${describedReason(reason)}); this instance counts quotas on its own until Redis can be used`,
      );
  }

  /** Reports that a request failed in Redis, so this instance counts on its own until a heartbeat succeeds. */
  failed(error: unknown): void {
    if (this.isClosed) return;
    this.graceUntil = this.clock.steady() + OUTAGE_GRACE_MS;
    // Aborts the running commands, whose requests are then decided locally. At the next connection the name may resolve to another server,
    // or the password may be correct.
    if (this.redis.status === 'ready') this.redis.disconnect(true);
    if (!this.isUp) return;
    this.changed(false);
    this.logger.warn(
      `Redis failed (${describedReason(error)}); this instance now counts on its own and allows 1/${this.instances} of each limit`,
    );
  }

  /** Removes this instance from the count and disconnects. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    if (this.isUp && this.hasJoined) await this.redis.zrem(this.keys.beats(), this.id).catch(() => undefined);
    this.redis.disconnect();
  }

  /** Returns the error if it failed. */
  private async beat(): Promise<unknown> {
    let reason: unknown;
    try {
      this.instanceCount(await this.sendBeat());
    } catch (error) {
      reason = error;
    }
    // ioredis reports a wrong password only after the responses to the commands that follow, which may succeed as the user `default`.
    await immediate();
    reason = this.refusal ?? reason;
    if (reason === undefined) this.onReconnected();
    else this.failed(reason);
    if (!this.isClosed) this.timer = setTimeout(() => void this.beat(), BEAT_MS).unref();
    return reason;
  }

  private async sendBeat(): Promise<unknown> {
    if (this.redis.status !== 'ready') throw new Error(CLOSED);
    this.refusal = undefined;
    await prepare(this.redis);
    const id = this.hasJoined ? this.id : '';
    const keys = [this.keys.beats(), this.keys.data()];
    const redis = this.redis as RedisClient & BeatCommand;
    const [reply] = await Promise.all([
      redis.beatQuota(keys.length, ...keys, id, STALE_MS, this.name, DATA_NAME_MS),
      this.probe(),
      // Each decision uses one of a Cluster's masters, so all must respond.
      ...mastersOf(redis).map((master) => master.ping()),
    ]);
    return reply;
  }

  private instanceCount(reply: unknown): void {
    const [count, name] = Array.isArray(reply) ? (reply as unknown[]) : [];
    if (!Number.isSafeInteger(count) || typeof name !== 'string')
      throw new Error('it returned an invalid count');
    this.name = name;
    const now = this.clock.steady();
    if ((count as number) < this.instances && now < this.graceUntil) return;
    this.instances = Math.max(1, count as number);
    this.graceUntil = now + OUTAGE_GRACE_MS;
    this.metrics.instances.set(this.instances);
  }

  private onReconnected(): void {
    if (this.isUp || this.isClosed) return;
    this.changed(true);
    this.logger.log('Quotas are counted in Redis');
    void losesData(this.redis).then((isVolatile) => this.metrics.persistent.set(isVolatile ? 0 : 1));
  }

  private changed(isUp: boolean): void {
    this.isUp = isUp;
    this.metrics.up.set(isUp ? 1 : 0);
    this.metrics.changes.inc({ to: isUp ? 'redis' : 'alone' });
  }
}
