import type { Redis } from 'ioredis';
import { BAN_RULES, type BanRules } from '../bans.js';
import { QuotaStore } from '../quota-store.js';
import type { QuotaRequest, QuotaVerdict } from '../quota.js';
import { PEEK_SCRIPT, takeScript } from './decide.script.js';
import { DecisionBatches } from './decision-batches.js';

/** What `defineCommand` adds to a connection: EVALSHA, and EVAL once after a NOSCRIPT. */
interface QuotaCommands {
  takeQuotas(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
  peekQuota(keyCount: number, ...keys: string[]): Promise<unknown>;
}

/** Counts in Redis, shared by every instance; one round trip per request. Rejects when Redis does not answer. */
export class RedisQuotaStore extends QuotaStore {
  private readonly redis: Redis & QuotaCommands;
  private readonly batches: DecisionBatches;

  /** `prefix` begins every key, so that several services can share one Redis. */
  constructor(
    redis: Redis,
    private readonly prefix: string,
    rules: BanRules = BAN_RULES,
  ) {
    super();
    redis.defineCommand('takeQuotas', { lua: takeScript(rules) });
    redis.defineCommand('peekQuota', { lua: PEEK_SCRIPT });
    const commands = redis as Redis & QuotaCommands;
    this.redis = commands;
    this.batches = new DecisionBatches((keys, args) => commands.takeQuotas(keys.length, ...keys, ...args));
  }

  async take(request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    const { windows, keyId } = request;
    const limits: number[] = [];
    let rest = `[${now},${keyId !== undefined}`;
    for (const { limit, lengthMs } of windows) {
      limits.push(limit);
      rest += `,${lengthMs}`;
    }
    const answer = await this.batches.add(this.keysOf(request, now), [windows.length, `${rest}]`, ...limits]);
    const numbers = numbersOf(answer);
    if (numbers.length === windows.length) return verdictOf(request, now, true, 0, numbers);
    const [ban = 0, ...used] = numbers;
    const verdict = verdictOf(request, now, false, Math.abs(ban), used);
    return ban < 0 ? { ...verdict, banBegins: true } : verdict;
  }

  async peek(request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    const keys = this.keysOf(request, now);
    const [lastBan = 0, ...used] = numbersOf(await this.redis.peekQuota(keys.length, ...keys));
    const bannedUntil = request.keyId !== undefined && lastBan > now ? lastBan : 0;
    const fits = request.windows.every(({ limit }, index) => (used[index] ?? 0) < limit);
    return verdictOf(request, now, fits && bannedUntil === 0, bannedUntil, used);
  }

  async unban(keyId: string, subjectId: string): Promise<void> {
    await this.redis.del(this.stateKey(subjectId, keyId));
  }

  private keysOf({ subject, windows, keyId = '' }: QuotaRequest, now: number): string[] {
    const keys = [this.stateKey(subject, keyId)];
    for (const { key, lengthMs } of windows) {
      keys.push(
        `${this.prefix}${subject}${key.slice(subject.length)}:${lengthMs}:${Math.floor(now / lengthMs)}`,
      );
    }
    return keys;
  }

  private stateKey(subject: string, keyId: string): string {
    return `${this.prefix}${subject}:key:${keyId}`;
  }
}

/** What a script answered, if that is numbers. */
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
