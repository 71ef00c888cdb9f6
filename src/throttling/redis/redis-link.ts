import type { Clock } from '../../core/time/clock.js';
import type { Metrics } from '../../core/metrics/metrics.js';
import { InstanceCount } from './instance-count.js';
import { type RedisClient, type RedisPlace, connectTo, reasonOf, redisClient } from './redis-client.js';
import { LateAnswers, withTimeout } from './redis-commands.js';
import type { RedisKeys } from './redis-keys.js';
import { CLOSED, RedisState, RetryBackoff } from './redis-state.js';

/** Time between two heartbeats, in milliseconds. */
const HEARTBEAT_MS = 2_000;
/** How long connecting may take, in milliseconds. */
const CONNECT_LIMIT_MS = 1_000;

/**
 * For so long after its own return an instance reckons with others that are not back, in milliseconds: the longest pause between two
 * attempts, and what one attempt takes.
 */
const RETURN_MS = 7_000;

/** What a RedisLink works with. */
export interface RedisLinkParts {
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** After this time an answer of Redis is late, in milliseconds. */
  readonly limitMs: number;
}

/** What the connection needs of the store above it. */
export interface RedisDuties {
  /** Does what a decision does, which tells more than a PING: scripts, permissions and latency are tried. */
  probe(): Promise<unknown>;
  /** Sends Redis the counts that it does not have; with `all` also those that it may have lost. */
  handOver(all: boolean): Promise<void>;
}

/**
 * The connection to Redis, and whether it can be used. Requests use it only while `isUp`; reconnecting happens in the background,
 * so that no request waits for it.
 */
export class RedisLink {
  readonly redis: RedisClient;
  /** Grows each time that Redis fails: what was told to it before may be lost. */
  epoch = 0;
  /** Called when Redis fails. */
  onFailure: () => void = () => undefined;
  /** Called with every heartbeat while Redis is used. */
  onBeat: () => Promise<void> = () => Promise.resolve();
  readonly instances: InstanceCount;
  readonly late: LateAnswers;
  private readonly state: RedisState;
  private readonly backoff: RetryBackoff;
  private duties: RedisDuties | undefined;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;
  private lostCounts = false;
  /** By the steady clock. */
  private returnedAt = -Infinity;
  /** Why the connection was refused; the error of a command only says that it could not be sent. */
  private refusal: Error | undefined;

  constructor(
    place: RedisPlace,
    keys: RedisKeys,
    private readonly parts: RedisLinkParts,
  ) {
    const probe = () => (this.isUp ? this.duties?.probe() : undefined);
    this.late = new LateAnswers(parts.limitMs, probe, (error) => this.failed(error));
    this.backoff = new RetryBackoff(parts.clock);
    this.state = new RedisState(parts.metrics);
    this.redis = redisClient(place, { connectTimeout: CONNECT_LIMIT_MS });
    // The reason of a refused connection is only emitted here. Without a listener the event would end the process.
    for (const event of ['error', 'node error'])
      this.redis.on(event, (error: Error) => {
        this.refusal = reasonOf(error);
        this.state.noteReason(this.refusal);
      });
    // That one node of a Cluster is gone is a failure, too: its replica may know less than was told to it.
    for (const event of ['close', '-node']) this.redis.on(event, () => this.failed(new Error(CLOSED)));
    this.instances = new InstanceCount(this.redis, keys, parts.metrics, parts.clock);
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

  /** Whether requests may be decided in Redis. */
  get isUp(): boolean {
    return this.state.isUp;
  }

  /** Whether Redis is back so recently that other instances may still count alone. */
  get isReturning(): boolean {
    return this.parts.clock.steady() < this.returnedAt + RETURN_MS;
  }

  /** Connects, which takes about two seconds at most. Resolves without Redis too, and then retries in the background. */
  async open(duties: RedisDuties): Promise<void> {
    this.duties = duties;
    await this.beat();
  }

  /** Logs the state at the start; when the connection is opened, the logger is not set up yet. */
  tell(): void {
    this.state.tell();
  }

  /** Records that Redis failed a request: from now on this instance counts by itself, until a probe succeeds. */
  failed(error: unknown): void {
    if (!this.isUp || this.closed) return;
    this.epoch += 1;
    this.onFailure();
    this.state.setDown(error, this.instances.number);
    // Commands that are still under way are cancelled as far as possible: their requests are decided locally.
    this.redis.disconnect();
    this.schedule(this.backoff.next());
  }

  /** Called when Redis has lost counts: they are handed over at once. */
  lost(): void {
    if (!this.isUp || this.lostCounts) return;
    this.lostCounts = true;
    this.schedule(0);
  }

  /** Hands over what Redis does not have yet, removes this instance from the count and disconnects. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    if (this.isUp) await this.leave().catch(() => undefined);
    this.redis.disconnect();
  }

  private async leave(): Promise<void> {
    await this.duties?.handOver(false);
    await withTimeout(this.instances.leave(), this.parts.limitMs);
  }

  private async beat(): Promise<void> {
    if (this.isUp) await this.stay().catch((error: unknown) => this.failed(error));
    else await this.comeBack();
    if (this.isUp) this.schedule(HEARTBEAT_MS);
  }

  private async stay(): Promise<void> {
    const { isNew } = await this.late.inTime(this.instances.beat());
    await this.duties?.probe();
    await this.onBeat();
    // A Redis that does not know this instance, which sent a heartbeat two seconds ago, has lost its data.
    const all = isNew || this.lostCounts;
    this.lostCounts = false;
    await this.duties?.handOver(all);
  }

  private async comeBack(): Promise<void> {
    this.refusal = undefined;
    try {
      if (this.redis.status !== 'ready') await connectTo(this.redis);
      this.instances.keep();
      // Redis may have to load the script for the first probe; the second must be as fast as any decision.
      await this.duties?.probe().catch(() => undefined);
      await this.duties?.probe();
      await this.late.inTime(this.instances.beat());
      await this.duties?.handOver(true);
      await this.onBeat();
      this.recovered();
    } catch (error) {
      this.state.noteReason(this.refusal ?? error);
      // A new connection for each attempt: by then the name may lead to another server, or the password may be correct.
      this.redis.disconnect();
      this.schedule(this.backoff.next());
    }
  }

  private recovered(): void {
    if (this.isUp || this.closed) return;
    // The connection may have been closed since the last answer was received.
    if (this.redis.status !== 'ready') throw new Error(CLOSED);
    this.backoff.up();
    if (this.epoch > 0) this.returnedAt = this.parts.clock.steady();
    this.state.setUp();
  }

  private schedule(delayMs: number): void {
    clearTimeout(this.timer);
    if (this.closed) return;
    this.timer = setTimeout(() => void this.beat(), delayMs);
    // The timer alone must not keep the process running.
    this.timer.unref();
  }
}
