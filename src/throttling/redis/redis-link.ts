import { Redis, type RedisOptions } from 'ioredis';
import { type Clock, SystemClock } from '../../clock.js';
import type { Metrics } from '../../metrics/metrics.js';
import { InstanceCount } from './instance-count.js';
import { withTimeout } from './redis-commands.js';
import { REDIS_PREFIX, RedisKeys } from './redis-keys.js';
import { RedisQuotaStore } from './redis-quota-store.js';
import { CLOSED, RedisState, RetryBackoff } from './redis-state.js';

/** How often an instance says that it is there, in milliseconds. */
const HEARTBEAT_MS = 2_000;
/** How long connecting, and then the first command, may take, in milliseconds. */
const FIRST_LIMIT_MS = 1_000;

/** How a connection is made: this module decides when to connect again, and a command fails at once while it cannot be sent. */
const CONNECTION: RedisOptions = {
  lazyConnect: true,
  maxRetriesPerRequest: 0,
  // The probe finds out whether it is ready.
  enableReadyCheck: false,
  retryStrategy: () => null,
  disableClientInfo: true,
};

/** What a RedisLink works with. */
export interface RedisLinkParts {
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** How long Redis may take to answer, in milliseconds. */
  readonly limitMs: number;
}

/** What is done with Redis beside the requests. */
export interface RedisDuties {
  /** Does what a decision does: only then is it known that the next one will be answered. */
  probe(): Promise<unknown>;
  /** Tells Redis what it may not know; with `all` what it may have lost, too. */
  handOver(all: boolean): Promise<void>;
}

/**
 * The connection to Redis and whether it can be relied on. Requests use it only while `isUp`; asking whether it
 * is back is done beside them, so that none waits for it.
 */
export class RedisLink {
  readonly redis: Redis;
  readonly instances: InstanceCount;
  private readonly state: RedisState;
  private readonly backoff: RetryBackoff;
  private readonly limitMs: number;
  private duties: RedisDuties | undefined;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;
  private lostCounts = false;
  /** Why the connection was refused: a command then says only that it could not be sent. */
  private refusal: Error | undefined;

  constructor(url: string, keys: RedisKeys, { metrics, clock, limitMs }: RedisLinkParts) {
    this.limitMs = limitMs;
    this.backoff = new RetryBackoff(clock);
    this.state = new RedisState(metrics);
    this.redis = new Redis(url, {
      ...CONNECTION,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      connectTimeout: FIRST_LIMIT_MS,
      // A Redis that stands still does not close its side; the next connection must not meet this one.
      disconnectTimeout: 1,
    });
    // Why a connection was refused arrives here alone; and without a listener it would end the process.
    this.redis.on('error', (error: Error) => {
      this.refusal = error;
      this.state.noteReason(error);
    });
    this.redis.on('close', () => this.failed(new Error(CLOSED)));
    this.instances = new InstanceCount(this.redis, keys, metrics, clock);
  }

  /** Whether requests may be decided in Redis. */
  get isUp(): boolean {
    return this.state.isUp;
  }

  /** Connects, waiting at most some two seconds; without Redis it goes on trying and answers all the same. */
  async open(duties: RedisDuties): Promise<void> {
    this.duties = duties;
    await this.beat();
  }

  /** Logs how it stands at the start; the logger is not there yet when the connection is opened. */
  tell(): void {
    this.state.tell();
  }

  /** Records that Redis failed a request: from now on this instance counts alone, until a probe succeeds. */
  failed(error: unknown): void {
    if (!this.isUp || this.closed) return;
    this.state.setDown(error, this.instances.number);
    // What is still under way must not be decided there as well, as far as that can be helped.
    this.redis.disconnect();
    this.schedule(this.backoff.next());
  }

  /** Redis has lost counts: they are handed over at once. */
  lost(): void {
    if (!this.isUp || this.lostCounts) return;
    this.lostCounts = true;
    this.schedule(0);
  }

  /** Hands over what Redis was not told yet, says good-bye and disconnects. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    if (this.isUp) await this.leave().catch(() => undefined);
    this.redis.disconnect();
  }

  private async leave(): Promise<void> {
    await this.duties?.handOver(false);
    await withTimeout(this.instances.leave(), this.limitMs);
  }

  private async beat(): Promise<void> {
    if (this.isUp) await this.stay().catch((error: unknown) => this.failed(error));
    else await this.comeBack();
    if (this.isUp) this.schedule(HEARTBEAT_MS);
  }

  private async stay(): Promise<void> {
    const { isNew } = await withTimeout(this.instances.beat(), this.limitMs);
    await withTimeout(this.probe(), this.limitMs);
    // It knew of this instance two seconds ago: it was flushed.
    const all = isNew || this.lostCounts;
    this.lostCounts = false;
    await this.duties?.handOver(all);
  }

  private async comeBack(): Promise<void> {
    this.refusal = undefined;
    try {
      if (this.redis.status !== 'ready') await this.redis.connect();
      this.instances.keep();
      // What comes first may be slower, such as the script that Redis does not have yet.
      await withTimeout(this.probe(), FIRST_LIMIT_MS);
      await withTimeout(this.probe(), this.limitMs);
      await withTimeout(this.instances.beat(), this.limitMs);
      await this.duties?.handOver(true);
      this.recovered();
    } catch (error) {
      this.state.noteReason(this.refusal ?? error);
      // Each attempt on a connection of its own: a replica may be another server by then, a password be set right.
      this.redis.disconnect();
      this.schedule(this.backoff.next());
    }
  }

  private async probe(): Promise<void> {
    await this.duties?.probe();
  }

  private recovered(): void {
    if (this.isUp || this.closed) return;
    // The connection may have gone while the last answer was on its way to us.
    if (this.redis.status !== 'ready') throw new Error(CLOSED);
    this.backoff.up();
    this.state.setUp();
  }

  private schedule(delayMs: number): void {
    clearTimeout(this.timer);
    if (this.closed) return;
    this.timer = setTimeout(() => void this.beat(), delayMs);
    // Heartbeats alone keep no process alive.
    this.timer.unref();
  }
}

/** How long Redis may take to connect, and to answer, in milliseconds. */
const LIMIT_MS = 2_000;

/**
 * Throws why an instance could not count in the Redis of a URL. Asks by what an instance asks with, on its keys: a PING says
 * nothing of scripts, permissions and what stands in the way. Joins no instances.
 */
export async function checkRedis(url: string): Promise<void> {
  const redis = new Redis(url, { ...CONNECTION, connectTimeout: LIMIT_MS });
  let reason: unknown;
  redis.on('error', (error) => (reason = error));
  const keys = new RedisKeys(REDIS_PREFIX);
  try {
    await redis.connect();
    // `petstore doctor` has no application whose clock it could use, and a probe asks for no time.
    await new RedisQuotaStore(redis, keys, new SystemClock(), undefined, LIMIT_MS).probe();
    await withTimeout(redis.zcard(keys.instances()), LIMIT_MS);
  } catch (error) {
    throw reason ?? error;
  } finally {
    redis.disconnect();
  }
}
