import type { Clock } from '../../core/time/clock.js';
import { BAN_RULES, type BanRules } from '../bans.js';
import { QuotaStore } from '../quota-store.js';
import { MINUTE_MS } from '../../core/time/duration.js';
import type { QuotaRequest, QuotaVerdict } from '../quota.js';
import { type RedisClient, WriteBatch } from './redis-client.js';
import type { RedisKeys } from './redis-keys.js';
import { takeScript } from './redis-scripts.js';

/** Commands that `defineCommand` adds to a connection. */
interface QuotaCommands {
  takeQuota(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
}

/** Counts in Redis, shared by all instances, with one round trip per request. Rejects if Redis does not respond. */
export class RedisQuotaStore extends QuotaStore {
  private readonly redis: RedisClient & QuotaCommands;
  private readonly batch: WriteBatch;

  constructor(
    redis: RedisClient,
    private readonly keys: RedisKeys,
    clock: Clock,
    rules: BanRules = BAN_RULES,
  ) {
    super(clock);
    redis.defineCommand('takeQuota', { lua: takeScript(rules) });
    this.redis = redis as RedisClient & QuotaCommands;
    this.batch = new WriteBatch(redis);
  }

  async take(request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    const keys = this.keysOf(request, now);
    const hasKey = request.keyId === undefined ? 0 : 1;
    const limits: number[] = [];
    for (const { limit, lengthMs } of request.windows) limits.push(limit, lengthMs);
    this.batch.open();
    const reply = await this.redis.takeQuota(keys.length, ...keys, now, hasKey, ...limits);
    const [bannedUntil = 0, banBegins, admitted, ...used] = numbersOf(reply);
    const verdict = verdictOf(request, now, admitted === 1, bannedUntil, used);
    return banBegins === 1 ? { ...verdict, banBegins: true } : verdict;
  }

  async peek(request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    const [state, ...counts] = await this.redis.mget(this.keysOf(request, now));
    const [lastBan = 0, ...used] = numbersOf([banEndOf(state), ...counts.map(Number)]);
    const bannedUntil = request.keyId !== undefined && lastBan > now ? lastBan : 0;
    const fits = request.windows.every(({ limit }, index) => (used[index] ?? 0) < limit);
    return verdictOf(request, now, fits && bannedUntil === 0, bannedUntil, used);
  }

  async unban(keyId: string, subjectId: string): Promise<void> {
    await this.redis.del(this.keys.strikes(subjectId, keyId));
  }

  /** Decides a request on a separate key, like any other. */
  async probe(): Promise<void> {
    const window = { key: 'probe', name: 'probe', limit: Number.MAX_SAFE_INTEGER, lengthMs: MINUTE_MS };
    await this.take({ subject: 'probe', isClient: false, windows: [window] }, 0);
  }

  private keysOf({ subject, windows, keyId = '' }: QuotaRequest, now: number): string[] {
    const keys = [this.keys.strikes(subject, keyId)];
    for (const { key, lengthMs } of windows)
      keys.push(this.keys.counter(subject, key, lengthMs, Math.floor(now / lengthMs)));
    return keys;
  }
}

/** Parses the script's response; throws for anything but numbers. */
function numbersOf(reply: unknown): number[] {
  if (Array.isArray(reply) && reply.every(Number.isSafeInteger)) return reply as number[];
  throw new Error('it returned an invalid decision');
}

/** The end of the last ban in the state of a key, or 0. */
function banEndOf(state: string | null | undefined): unknown {
  return state ? (JSON.parse(state) as unknown[])[0] : 0;
}

function verdictOf(
  { windows }: QuotaRequest,
  now: number,
  admitted: boolean,
  bannedUntil: number,
  used: readonly number[],
): QuotaVerdict {
  if (used.length !== windows.length) throw new Error('it returned counts for different windows');
  const states = windows.map(({ name, limit, lengthMs }, index) => ({
    name,
    limit,
    lengthMs,
    used: used[index] ?? 0,
    remaining: Math.max(0, limit - (used[index] ?? 0)),
    resetsAt: now - (now % lengthMs) + lengthMs,
  }));
  return bannedUntil > 0
    ? { admitted, at: now, windows: states, bannedUntil }
    : { admitted, at: now, windows: states };
}
