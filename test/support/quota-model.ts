import type { BanRules } from '../../src/throttling/bans.js';
import { DAY_MS, MINUTE_MS, type QuotaRequest, type QuotaVerdict } from '../../src/throttling/quota.js';

/** One request that a window admitted. */
interface Admission {
  readonly key: string;
  readonly lengthMs: number;
  readonly start: number;
}

/** One refusal of a key by its quota: when, and until when it was told to wait. */
interface Refusal {
  readonly at: number;
  readonly told: number;
}

/**
 * What a QuotaStore promises, in the plainest way: every admission and every refusal is kept in a list, and every
 * question is answered by reading the whole list again.
 */
export class QuotaModel {
  private admissions: Admission[] = [];
  private readonly refusals = new Map<string, Refusal[]>();
  private readonly current = new Map<number, number>();

  /** `forgetsPast`: a window that time has left is forgotten, should the clock be put back into it. */
  constructor(
    private readonly rules: BanRules,
    private readonly forgetsPast: boolean,
  ) {}

  take(request: QuotaRequest, now: number): QuotaVerdict {
    const { windows, keyId } = request;
    const looked = this.peek(request, now);
    if (looked.bannedUntil !== undefined) return looked;
    if (looked.admitted) {
      for (const { key, lengthMs } of windows)
        this.admissions.push({ key, lengthMs, start: startOf(now, lengthMs) });
      return {
        ...looked,
        windows: looked.windows.map((window) => ({
          ...window,
          used: window.used + 1,
          remaining: window.remaining - 1,
        })),
      };
    }
    if (keyId === undefined) return looked;
    const told = Math.max(
      ...looked.windows.filter(({ remaining }) => remaining === 0).map(({ resetsAt }) => resetsAt),
    );
    this.refusals.set(keyId, [...(this.refusals.get(keyId) ?? []), { at: now, told }]);
    const bannedUntil = this.bannedUntil(keyId);
    return bannedUntil > now ? { ...looked, bannedUntil, banBegins: true } : looked;
  }

  peek({ windows, keyId }: QuotaRequest, now: number): QuotaVerdict {
    if (this.forgetsPast)
      for (const length of [MINUTE_MS, DAY_MS, ...windows.map(({ lengthMs }) => lengthMs)])
        this.turn(length, now);
    const states = windows.map(({ key, name, limit, lengthMs }) => {
      const start = startOf(now, lengthMs);
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

  /** Forgets every window of a length but the one that now is in. */
  private turn(lengthMs: number, now: number): void {
    const start = startOf(now, lengthMs);
    if (this.current.get(lengthMs) === start) return;
    this.admissions = this.admissions.filter((one) => one.lengthMs !== lengthMs);
    this.current.set(lengthMs, start);
  }

  /** Reads a key's refusals from the first one: which were strikes, and what bans they brought. */
  private bannedUntil(keyId: string): number {
    const { strikesToBan, forgivenMs, strikeEveryMs, resetMs, ladderMs } = this.rules;
    let lastTold = 0;
    let episodeBegan = 0;
    let strikes: number[] = [];
    let bans = 0;
    let banned = 0;
    let lastStrike = Number.NEGATIVE_INFINITY;
    for (const { at, told } of this.refusals.get(keyId) ?? []) {
      if (at - lastStrike >= resetMs) {
        strikes = [];
        bans = 0;
      }
      const inFlight = at - episodeBegan < forgivenMs;
      if (at >= lastTold) episodeBegan = at;
      else if (told >= lastTold && !inFlight && at - lastStrike >= strikeEveryMs) {
        strikes.push(at);
        lastStrike = at;
      }
      lastTold = told;
      if (strikes.length < strikesToBan) continue;
      banned = at + (ladderMs[Math.min(bans, ladderMs.length - 1)] ?? 0);
      lastTold = banned;
      lastStrike = banned;
      bans += 1;
      strikes = [];
    }
    return banned;
  }
}

function startOf(now: number, lengthMs: number): number {
  return Math.floor(now / lengthMs) * lengthMs;
}
