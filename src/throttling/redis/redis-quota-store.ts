import { randomUUID } from 'node:crypto';
import type { Clock } from '../../core/time/clock.js';
import { BAN_RULES, type BanRules } from '../bans.js';
import { QuotaStore } from '../quota-store.js';
import { MINUTE_MS } from '../../core/time/duration.js';
import type { QuotaRequest, QuotaVerdict } from '../quota.js';
import type { KnownBan, KnownCount } from './known-counts.js';
import { type RedisClient, mastersOf } from './redis-client.js';
import { DecisionBatches, type InTime, numbersOf, withTimeout } from './redis-commands.js';
import type { RedisKeys } from './redis-keys.js';
import { HAND_OVER_SCRIPT, banScript, keptMs, takeScript } from './redis-scripts.js';

/** Timeout of handing over a count or a ban, in milliseconds; no request waits for it. */
const HAND_OVER_LIMIT_MS = 1_000;
/** So many are handed over at a time; decisions that have come in the meantime are sent before the next. */
const HANDED_OVER_AT_ONCE = 500;
/** The state of a key that was unbanned. */
const NEVER_REFUSED = '[0,0,0,0,0,0]';

/** What `defineCommand` adds to a connection: each runs EVALSHA, and EVAL once if Redis does not know the script. */
interface QuotaCommands {
  takeQuotas(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
  handOverCount(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
  handOverBan(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
}

/** Counts in Redis, shared by every instance; one round trip per request. Rejects when Redis does not answer. */
export class RedisQuotaStore extends QuotaStore {
  /** Called when a response shows that Redis has lost counts. */
  onLoss: () => void = () => undefined;
  private readonly redis: RedisClient & QuotaCommands;
  private readonly batches: DecisionBatches;
  /** Names what this instance has handed over. */
  private readonly id = randomUUID();

  /** `inTime` rejects when the response to a command is too late. */
  constructor(
    redis: RedisClient,
    private readonly keys: RedisKeys,
    clock: Clock,
    private readonly rules: BanRules = BAN_RULES,
    private readonly inTime: InTime = (answer) => answer,
  ) {
    super(clock);
    redis.defineCommand('takeQuotas', { lua: takeScript(rules) });
    redis.defineCommand('handOverCount', { lua: HAND_OVER_SCRIPT });
    redis.defineCommand('handOverBan', { lua: banScript(rules) });
    this.redis = redis as RedisClient & QuotaCommands;
    this.batches = new DecisionBatches((names, args) =>
      this.inTime(this.redis.takeQuotas(names.length, ...names, ...args)),
    );
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
    const [state, ...counts] = await this.inTime(this.redis.mget(keys));
    const [lastBan = 0, ...used] = numbersOf([banEndOf(state), ...counts.map(Number)]);
    const bannedUntil = request.keyId !== undefined && lastBan > now ? lastBan : 0;
    const fits = request.windows.every(({ limit }, index) => (used[index] ?? 0) < limit);
    return verdictOf(request, now, fits && bannedUntil === 0, bannedUntil, used);
  }

  /** A state is left, so that no instance that has not heard of it hands the ban over. */
  async unban(keyId: string, subjectId: string): Promise<void> {
    const state = this.keys.strikes(subjectId, keyId);
    await this.inTime(this.redis.set(state, NEVER_REFUSED, 'PX', keptMs(this.rules)));
  }

  /**
   * Gives Redis counts and bans that it may not have. What gets no response may be sent again: Redis notes what each instance has admitted
   * by itself. Answers the keys whose bans have been lifted. Rejects when Redis fails.
   */
  async handOver(
    counts: readonly KnownCount[],
    bans: readonly (readonly [keyId: string, ban: KnownBan])[],
  ): Promise<string[]> {
    const lifted: string[] = [];
    await inSlices(bans, async ([keyId, ban]) => {
      const { subject, until, isOwn } = ban;
      const handed = this.redis.handOverBan(
        1,
        this.keys.strikes(subject, keyId),
        until,
        isOwn ? 1 : 0,
        ban.bans,
      );
      const isBanned = await withTimeout(handed, HAND_OVER_LIMIT_MS);
      ban.isOwn = false;
      if (isBanned === 0) lifted.push(keyId);
    });
    await inSlices(counts, (count) => this.handOverCount(count));
    return lifted;
  }

  /** Decides a request on a separate key, in the same way and at the same cost as any other, and asks each master of a Cluster. */
  async probe(): Promise<void> {
    const window = { key: 'probe', name: 'probe', limit: Number.MAX_SAFE_INTEGER, lengthMs: MINUTE_MS };
    await Promise.all([
      this.take({ subject: 'probe', isClient: false, windows: [window] }, 0),
      ...mastersOf(this.redis).map((master) => this.inTime(master.ping())),
    ]);
  }

  private async handOverCount(count: KnownCount): Promise<void> {
    const { subject, key, lengthMs, number, seen, alone, handedOver } = count;
    const counter = this.keys.counter(subject, key, lengthMs, number);
    const note = this.keys.handedOver(this.id, subject, counter);
    const handed = this.redis.handOverCount(2, counter, note, seen, alone, handedOver, lengthMs);
    const used = await withTimeout(handed, HAND_OVER_LIMIT_MS);
    if (!Number.isSafeInteger(used)) throw new Error('it returned an invalid count');
    // More may have been admitted since.
    count.handedOver += alone - handedOver;
    count.seen = Math.max(count.seen, used as number);
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

async function inSlices<Item>(
  items: readonly Item[],
  handOver: (item: Item) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < items.length; from += HANDED_OVER_AT_ONCE)
    await Promise.all(items.slice(from, from + HANDED_OVER_AT_ONCE).map(handOver));
}

/** The end of the last ban by the state of a key, or 0. */
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
  if (used.length !== windows.length) throw new Error('it returned counts of other windows');
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
