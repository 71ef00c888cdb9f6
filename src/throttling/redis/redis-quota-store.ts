import { Redis } from 'ioredis';
import { type Clock, SystemClock } from '../../clock.js';
import { BAN_RULES, type BanRules } from '../bans.js';
import type { StateNames } from '../../database/shared-data-version.js';
import { QuotaStore } from '../quota-store.js';
import { MINUTE_MS, type QuotaRequest, type QuotaVerdict } from '../quota.js';
import type { KnownCount } from './known-counts.js';
import { DecisionBatches, withTimeout } from './redis-commands.js';
import { REDIS_PREFIX, RedisKeys } from './redis-keys.js';
import { CONNECTION } from './redis-link.js';
import { PEEK_SCRIPT, handoverScript, takeScript } from './redis-scripts.js';

/** Timeout of handing over one batch, in milliseconds; no request waits for it. */
const HANDOVER_LIMIT_MS = 1_000;

/** What `defineCommand` adds to a connection: each runs EVALSHA, and EVAL once if Redis does not know the script. */
interface QuotaCommands {
  takeQuotas(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
  peekQuota(keyCount: number, ...keys: string[]): Promise<unknown>;
  handOverQuotas(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
}

/** Counts in Redis, shared by every instance; one round trip per request. Rejects when Redis does not answer. */
export class RedisQuotaStore extends QuotaStore {
  /** Called when an answer shows that Redis has lost counts. */
  onLoss: () => void = () => undefined;
  /** Called with the names of the states of what is cached, which come with every decision. */
  onNames: (names: StateNames) => void = () => undefined;
  private readonly redis: Redis & QuotaCommands;
  private readonly batches: DecisionBatches;

  /** `limitMs` is the timeout of each command; without it there is none. */
  constructor(
    redis: Redis,
    private readonly keys: RedisKeys,
    clock: Clock,
    rules: BanRules = BAN_RULES,
    private readonly limitMs?: number,
  ) {
    super(clock);
    redis.defineCommand('takeQuotas', { lua: takeScript(rules) });
    redis.defineCommand('peekQuota', { lua: PEEK_SCRIPT });
    redis.defineCommand('handOverQuotas', { lua: handoverScript(rules) });
    const commands = redis as Redis & QuotaCommands;
    this.redis = commands;
    this.batches = new DecisionBatches(async (names, args) => {
      const all = [keys.states(), ...names];
      return this.decisionsIn(await this.limited(commands.takeQuotas(all.length, ...all, ...args)));
    });
  }

  /** `seen` is the last known count of each window: if Redis has lost it, it continues from there. */
  async take(request: QuotaRequest, now: number, seen: readonly number[] = []): Promise<QuotaVerdict> {
    const { windows, keyId } = request;
    const limits: number[] = [];
    let rest = `[${now},${keyId !== undefined}`;
    for (const { limit, lengthMs } of windows) {
      limits.push(limit);
      rest += `,${lengthMs}`;
    }
    for (const used of seen) rest += `,${used}`;
    const answer = await this.batches.add(this.keysOf(request, now), [windows.length, `${rest}]`, ...limits]);
    const numbers = numbersOf(answer);
    if (numbers.length === windows.length) {
      if (numbers.some((used) => used < 0)) this.onLoss();
      return verdictOf(request, now, true, 0, numbers.map(Math.abs));
    }
    const [ban = 0, ...used] = numbers;
    const verdict = verdictOf(request, now, false, Math.abs(ban), used);
    return ban < 0 ? { ...verdict, banBegins: true } : verdict;
  }

  async peek(request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    const keys = this.keysOf(request, now);
    const answer = await this.limited(this.redis.peekQuota(keys.length, ...keys));
    const [lastBan = 0, ...used] = numbersOf(answer);
    const bannedUntil = request.keyId !== undefined && lastBan > now ? lastBan : 0;
    const fits = request.windows.every(({ limit }, index) => (used[index] ?? 0) < limit);
    return verdictOf(request, now, fits && bannedUntil === 0, bannedUntil, used);
  }

  async unban(keyId: string, subjectId: string): Promise<void> {
    await this.limited(this.redis.del(this.keys.state(subjectId, keyId)));
  }

  /** Decides a request on a key of its own, in the same way and at the same cost as any other. */
  async probe(): Promise<void> {
    const window = { key: 'probe', name: 'probe', limit: Number.MAX_SAFE_INTEGER, lengthMs: MINUTE_MS };
    await this.take({ subject: 'probe', isClient: false, windows: [window] }, 0);
  }

  /** Sends Redis counts and bans that it may have lost; returns the counts afterwards. See handoverScript. */
  async handOver(
    id: string,
    counts: readonly { readonly known: KnownCount; readonly seen: number; readonly alone: number }[],
    bans: readonly { readonly keyId: string; readonly subject: string; readonly until: number }[],
  ): Promise<number[]> {
    const names = [this.keys.handedOver(id)];
    const args = [counts.length];
    for (const { known, seen, alone } of counts) {
      names.push(this.keys.counter(known.key, known.lengthMs, known.number));
      args.push(seen, alone, known.lengthMs);
    }
    for (const { keyId, subject, until } of bans) {
      names.push(this.keys.state(subject, keyId));
      args.push(until);
    }
    const answer = await withTimeout(
      this.redis.handOverQuotas(names.length, ...names, ...args),
      HANDOVER_LIMIT_MS,
    );
    const used = numbersOf(answer);
    if (used.length !== counts.length) throw new Error('it answered for other counts');
    return used;
  }

  /** The decisions in an answer; tells of the names that stand behind them. */
  private decisionsIn(answer: unknown): unknown {
    const names: unknown = Array.isArray(answer) ? answer.pop() : undefined;
    if (!Array.isArray(names)) throw new Error('it answered something that is no decision');
    const [responses, keys] = names as (string | null)[];
    this.onNames({ responses: responses ?? null, keys: keys ?? null });
    return answer;
  }

  private limited<T>(answer: Promise<T>): Promise<T> {
    return this.limitMs === undefined ? answer : withTimeout(answer, this.limitMs);
  }

  private keysOf({ subject, windows, keyId = '' }: QuotaRequest, now: number): string[] {
    const keys = [this.keys.state(subject, keyId)];
    for (const { key, lengthMs } of windows)
      keys.push(this.keys.counter(key, lengthMs, Math.floor(now / lengthMs)));
    return keys;
  }
}

/** The answer of a script as numbers; throws if it is none. */
function numbersOf(answer: unknown): number[] {
  if (Array.isArray(answer) && answer.every(Number.isSafeInteger)) return answer as number[];
  throw new Error('it answered something that is no decision');
}

function verdictOf(
  { windows }: QuotaRequest,
  now: number,
  admitted: boolean,
  bannedUntil: number,
  used: readonly number[],
): QuotaVerdict {
  if (used.length !== windows.length) throw new Error('it answered for other windows');
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

/** How long Redis may take to connect, and to answer, in milliseconds. */
const CHECK_LIMIT_MS = 2_000;

/**
 * Throws the reason if an instance could not count in the Redis of a URL. Runs the commands that an instance runs, on the same
 * keys, because a PING tries neither scripts nor permissions. Is not counted as an instance.
 */
export async function checkRedis(url: string): Promise<void> {
  const redis = new Redis(url, { ...CONNECTION, connectTimeout: CHECK_LIMIT_MS });
  let reason: unknown;
  redis.on('error', (error) => (reason = error));
  const keys = new RedisKeys(REDIS_PREFIX);
  try {
    await redis.connect();
    // `petstore doctor` has no application whose clock it could use, and a probe asks for no time.
    await new RedisQuotaStore(redis, keys, new SystemClock(), undefined, CHECK_LIMIT_MS).probe();
    await withTimeout(redis.zcard(keys.instances()), CHECK_LIMIT_MS);
  } catch (error) {
    throw reason ?? error;
  } finally {
    redis.disconnect();
  }
}
