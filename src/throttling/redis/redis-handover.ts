import { BAN_RULES, type BanRules } from '../bans.js';
import type { KnownCount } from './known-counts.js';
import type { RedisClient } from './redis-client.js';
import { numbersOf, withTimeout } from './redis-commands.js';
import type { RedisKeys } from './redis-keys.js';
import { handoverScript } from './redis-scripts.js';

/** Timeout of handing over one batch, in milliseconds; no request waits for it. */
const HANDOVER_LIMIT_MS = 1_000;

/** A count that an instance knows: what it last saw, and what it has admitted alone since. */
export interface HeldCount {
  readonly known: KnownCount;
  readonly seen: number;
  readonly alone: number;
}

/** A running ban that an instance knows; `until` in ms since the Unix epoch. */
export interface HeldBan {
  readonly keyId: string;
  readonly subject: string;
  readonly until: number;
}

/** What one command hands over. `at` are the places of its counts in the batch. */
interface Part {
  readonly at: number[];
  readonly counts: HeldCount[];
  readonly bans: HeldBan[];
}

interface HandoverCommand {
  handOverQuotas(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
}

/** Sends Redis counts and bans that it may have lost. */
export class RedisHandover {
  private readonly redis: RedisClient & HandoverCommand;

  constructor(
    redis: RedisClient,
    private readonly keys: RedisKeys,
    rules: BanRules = BAN_RULES,
  ) {
    redis.defineCommand('handOverQuotas', { lua: handoverScript(rules) });
    this.redis = redis as RedisClient & HandoverCommand;
  }

  /**
   * Sends one batch; returns the counts afterwards. Redis applies the counts of one id once, so that a batch may be sent again as a
   * whole, also when it went to several nodes of a Cluster and only some have answered. Rejects when Redis fails.
   */
  async send(id: string, counts: readonly HeldCount[], bans: readonly HeldBan[]): Promise<number[]> {
    const used: number[] = [];
    await Promise.all(
      Array.from(this.partsOf(counts, bans), async ([subject, part]) => {
        const after = await this.sendPart(this.keys.handedOver(id, subject), part);
        for (const [index, at] of part.at.entries()) used[at] = after[index] ?? 0;
      }),
    );
    return used;
  }

  /** On a Cluster one part for each subject, because the keys of a command must lie in one slot. */
  private partsOf(counts: readonly HeldCount[], bans: readonly HeldBan[]): Map<string, Part> {
    const parts = new Map<string, Part>();
    const partOf = (subject: string) => {
      const group = this.keys.isCluster ? subject : '';
      let part = parts.get(group);
      if (!part) parts.set(group, (part = { at: [], counts: [], bans: [] }));
      return part;
    };
    for (const [index, count] of counts.entries()) {
      const part = partOf(count.known.subject);
      part.at.push(index);
      part.counts.push(count);
    }
    for (const ban of bans) partOf(ban.subject).bans.push(ban);
    return parts;
  }

  private async sendPart(idKey: string, { counts, bans }: Part): Promise<number[]> {
    const names = [idKey];
    const args = [counts.length];
    for (const { known, seen, alone } of counts) {
      names.push(this.keys.counter(known.subject, known.key, known.lengthMs, known.number));
      args.push(seen, alone, known.lengthMs);
    }
    for (const { keyId, subject, until } of bans) {
      names.push(this.keys.strikes(subject, keyId));
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
}
