import type { BanRules } from '../../src/throttling/bans.js';
import { DAY_MS, MINUTE_MS } from '../../src/core/time/duration.js';
import type { QuotaRequest, QuotaVerdict } from '../../src/throttling/quota.js';

/** One request that a window admitted. */
interface Admission {
  readonly key: string;
  readonly lengthMs: number;
  readonly start: number;
}

/**
 * A refusal of a key by its quota: when it was refused and until when it must wait. Or a correction of a ban that lasted longer than any
 * ban can: it ends at `cutTo`.
 */
type Refusal = { readonly at: number; readonly until: number } | { readonly cutTo: number };

/** Maximum time by which the clock can be set back without returning to a window that has ended. */
const HELD_MS = MINUTE_MS;

/**
 * The promises of a QuotaStore in their simplest form: every admission and every refusal is appended to a list, and every result is
 * computed from the whole list.
 */
export class QuotaModel {
  private admissions: Admission[] = [];
  private readonly refusals = new Map<string, Refusal[]>();
  private readonly current = new Map<number, number>();

  /**
   * With `isOfOneProcess`, only the current window of each length is known. If the clock is set back, the counts move with it, and no wait
   * or strike of a key stays in the future. Otherwise, all windows are remembered, and strikes keep their times.
   */
  constructor(
    private readonly rules: BanRules,
    private readonly isOfOneProcess: boolean,
  ) {}

  take(request: QuotaRequest, now: number): QuotaVerdict {
    const { windows, keyId } = request;
    const peeked = this.peek(request, now);
    if (peeked.bannedUntil !== undefined) return keyId === undefined ? peeked : this.cut(peeked, keyId, now);
    if (peeked.admitted) {
      for (const { key, lengthMs } of windows)
        this.admissions.push({ key, lengthMs, start: this.startOf(now, lengthMs) });
      return {
        ...peeked,
        windows: peeked.windows.map((window) => ({
          ...window,
          used: window.used + 1,
          remaining: window.remaining - 1,
        })),
      };
    }
    if (keyId === undefined) return peeked;
    const until = Math.max(
      ...peeked.windows.filter(({ remaining }) => remaining === 0).map(({ resetsAt }) => resetsAt),
    );
    this.refusals.set(keyId, [...(this.refusals.get(keyId) ?? []), { at: now, until }]);
    const bannedUntil = this.bannedUntil(keyId);
    return bannedUntil > now ? { ...peeked, bannedUntil, banBegins: true } : peeked;
  }

  /** Shortens a ban that began when the clock was ahead. */
  private cut(peeked: QuotaVerdict, keyId: string, now: number): QuotaVerdict {
    const { banned, bans } = this.bansOf(keyId);
    const { banDurationsMs } = this.rules;
    const longest = now + (banDurationsMs[Math.min(bans, banDurationsMs.length) - 1] ?? 0);
    if (banned <= longest) return peeked;
    this.refusals.get(keyId)?.push({ cutTo: longest });
    return { ...peeked, bannedUntil: longest };
  }

  peek({ windows, keyId }: QuotaRequest, now: number): QuotaVerdict {
    if (this.isOfOneProcess)
      for (const length of [MINUTE_MS, DAY_MS, ...windows.map(({ lengthMs }) => lengthMs)])
        this.turn(length, now);
    const states = windows.map(({ key, name, limit, lengthMs }) => {
      const start = this.startOf(now, lengthMs);
      const used = this.admissions.filter(
        (one) => one.key === key && one.lengthMs === lengthMs && one.start === start,
      );
      return {
        name,
        limit,
        lengthMs,
        used: used.length,
        remaining: Math.max(0, limit - used.length),
        resetsAt: start + lengthMs,
      };
    });
    const bannedUntil = keyId === undefined ? 0 : this.bannedUntil(keyId);
    const verdict = { admitted: states.every(({ remaining }) => remaining > 0), at: now, windows: states };
    return bannedUntil > now ? { ...verdict, admitted: false, bannedUntil } : verdict;
  }

  unban(keyId: string): void {
    this.refusals.delete(keyId);
  }

  /** Removes all windows of a length except the current one. */
  private turn(lengthMs: number, now: number): void {
    const before = this.current.get(lengthMs);
    if (before !== undefined && now >= before - HELD_MS && now < before + lengthMs) return;
    const start = Math.floor(now / lengthMs) * lengthMs;
    const ofLength = this.admissions.filter((one) => one.lengthMs === lengthMs);
    this.admissions = this.admissions.filter((one) => one.lengthMs !== lengthMs);
    if (before !== undefined && now < before)
      this.admissions.push(...ofLength.map((one) => ({ ...one, start })));
    this.current.set(lengthMs, start);
  }

  private startOf(now: number, lengthMs: number): number {
    if (this.isOfOneProcess) return this.current.get(lengthMs) ?? 0;
    return Math.floor(now / lengthMs) * lengthMs;
  }

  /** Replays the refusals of a key: which were strikes, and which bans they caused. */
  private bannedUntil(keyId: string): number {
    return this.bansOf(keyId).banned;
  }

  private bansOf(keyId: string): { readonly banned: number; readonly bans: number } {
    const { strikesToBan, gracePeriodMs, minStrikeIntervalMs, resetMs, banDurationsMs } = this.rules;
    let lastUntil = Number.NEGATIVE_INFINITY;
    let episodeStart = Number.NEGATIVE_INFINITY;
    let strikes: number[] = [];
    let bans = 0;
    let banned = Number.NEGATIVE_INFINITY;
    let lastStrike = Number.NEGATIVE_INFINITY;
    for (const refusal of this.refusals.get(keyId) ?? []) {
      if ('cutTo' in refusal) {
        banned = lastUntil = lastStrike = refusal.cutTo;
        continue;
      }
      const { at, until } = refusal;
      if (this.isOfOneProcess) {
        const longest = banDurationsMs[Math.min(bans, banDurationsMs.length) - 1] ?? 0;
        lastUntil = Math.min(lastUntil, at + Math.max(longest, DAY_MS));
        episodeStart = Math.min(episodeStart, at);
        lastStrike = Math.min(lastStrike, Math.max(at, banned));
      }
      if (at - lastStrike >= resetMs) {
        strikes = [];
        bans = 0;
        banned = Number.NEGATIVE_INFINITY;
      }
      const inFlight = at - episodeStart < gracePeriodMs;
      if (at >= lastUntil) episodeStart = at;
      else if (until >= lastUntil && !inFlight && at - lastStrike >= minStrikeIntervalMs) {
        strikes.push(at);
        lastStrike = at;
      }
      lastUntil = until;
      if (strikes.length < strikesToBan) continue;
      banned = at + (banDurationsMs[Math.min(bans, banDurationsMs.length - 1)] ?? 0);
      lastUntil = banned;
      lastStrike = banned;
      bans += 1;
      strikes = [];
    }
    return { banned, bans };
  }
}
