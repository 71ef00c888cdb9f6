import type { Clock } from '../../core/time/clock.js';
import { BAN_RULES, type BanRules } from '../bans.js';
import type { StateNames } from '../../database/shared-data-version.js';
import { QuotaStore } from '../quota-store.js';
import { MINUTE_MS, type QuotaRequest, type QuotaVerdict } from '../quota.js';
import { type RedisClient, namesForEachMaster } from './redis-client.js';
import { DecisionBatches, type InTime, numbersOf } from './redis-commands.js';
import type { RedisKeys } from './redis-keys.js';
import { PEEK_SCRIPT, takeScript } from './redis-scripts.js';

/** What `defineCommand` adds to a connection: each runs EVALSHA, and EVAL once if Redis does not know the script. */
interface QuotaCommands {
  takeQuotas(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
  peekQuota(keyCount: number, ...keys: string[]): Promise<unknown>;
}

/** Counts in Redis, shared by every instance; one round trip per request. Rejects when Redis does not answer. */
export class RedisQuotaStore extends QuotaStore {
  /** Called when an answer shows that Redis has lost counts. */
  onLoss: () => void = () => undefined;
  /** Called with the names of the states of what is cached, which come with every decision. */
  onNames: (names: StateNames) => void = () => undefined;
  private readonly redis: RedisClient & QuotaCommands;
  private readonly batches: DecisionBatches;

  /** `inTime` rejects when the answer to a command is too late. */
  constructor(
    redis: RedisClient,
    private readonly keys: RedisKeys,
    clock: Clock,
    rules: BanRules = BAN_RULES,
    private readonly inTime: InTime = (answer) => answer,
  ) {
    super(clock);
    redis.defineCommand('takeQuotas', { lua: takeScript(rules, !keys.isCluster) });
    redis.defineCommand('peekQuota', { lua: PEEK_SCRIPT });
    this.redis = redis as RedisClient & QuotaCommands;
    this.batches = keys.isCluster
      ? new DecisionBatches(
          (names, args) => this.inTime(this.redis.takeQuotas(names.length, ...names, ...args)),
          () => this.askNames(),
        )
      : new DecisionBatches(async (names, args) => {
          const all = [keys.versions(), ...names];
          return this.decisionsIn(await this.inTime(this.redis.takeQuotas(all.length, ...all, ...args)));
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
    const answer = await this.batches.add(
      this.keysOf(request, now),
      [windows.length, `${rest}]`, ...limits],
      this.slotOf(request.subject),
    );
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
    const answer = await this.inTime(this.redis.peekQuota(keys.length, ...keys));
    const [lastBan = 0, ...used] = numbersOf(answer);
    const bannedUntil = request.keyId !== undefined && lastBan > now ? lastBan : 0;
    const fits = request.windows.every(({ limit }, index) => (used[index] ?? 0) < limit);
    return verdictOf(request, now, fits && bannedUntil === 0, bannedUntil, used);
  }

  async unban(keyId: string, subjectId: string): Promise<void> {
    await this.inTime(this.redis.del(this.keys.strikes(subjectId, keyId)));
  }

  /** Decides a request on a key of its own, of each master of a Cluster, in the same way and at the same cost as any other. */
  async probe(): Promise<void> {
    const window = { key: 'probe', name: 'probe', limit: Number.MAX_SAFE_INTEGER, lengthMs: MINUTE_MS };
    const subjects = namesForEachMaster(this.redis, 'probe');
    await Promise.all(
      subjects.map((subject) => this.take({ subject, isClient: false, windows: [window] }, 0)),
    );
  }

  /** The decisions in an answer; tells of the names that stand behind them. */
  private decisionsIn(answer: unknown): unknown {
    const names: unknown = Array.isArray(answer) ? answer.pop() : undefined;
    if (!Array.isArray(names)) throw new Error('it answered something that is no decision');
    this.tellNames(names);
    return answer;
  }

  /**
   * On a Cluster the names lie in another slot than the counts: they are asked for in the same turn, and a decision is known only
   * when they are. So they are as new as the decision, or newer.
   */
  private async askNames(): Promise<void> {
    this.tellNames(await this.inTime(this.redis.hmget(this.keys.versions(), 'responses', 'keys')));
  }

  private tellNames([responses, keys]: readonly (string | null)[]): void {
    this.onNames({ responses: responses ?? null, keys: keys ?? null });
  }

  /** Decisions of the same may share a command. */
  private slotOf(subject: string): string {
    return this.keys.isCluster ? subject : '';
  }

  private keysOf({ subject, windows, keyId = '' }: QuotaRequest, now: number): string[] {
    const keys = [this.keys.strikes(subject, keyId)];
    for (const { key, lengthMs } of windows)
      keys.push(this.keys.counter(subject, key, lengthMs, Math.floor(now / lengthMs)));
    return keys;
  }
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
