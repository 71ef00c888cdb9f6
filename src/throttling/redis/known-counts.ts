import type { QuotaRequest, QuotaVerdict, QuotaWindow } from '../quota.js';

/** Most counts per window length, and most bans, that are kept; beyond that the oldest are evicted. */
const LARGEST = 100_000;

/** A count in Redis as this instance knows it. */
export interface KnownCount {
  /** Whose requests it counts. */
  readonly subject: string;
  readonly key: string;
  readonly lengthMs: number;
  /** Number of windows of this length since the Unix epoch. */
  readonly number: number;
  /** The count that Redis last answered. */
  seen: number;
  /** Requests that this instance admitted by itself while Redis was away. */
  alone: number;
  /** The part of `alone` that Redis has already got. */
  handedOver: number;
  /** What `seen` and `handedOver` were when Redis failed last: what was left then is divided among the instances. */
  divided?: { readonly failure: number; readonly seen: number; readonly handedOver: number };
}

/** The known counts of one window length; only those of the latest window. */
class Latest {
  number = Number.NEGATIVE_INFINITY;
  readonly counts = new Map<string, KnownCount>();
  readonly toHandOver = new Set<KnownCount>();

  turnTo(number: number): void {
    this.number = number;
    this.counts.clear();
    this.toHandOver.clear();
  }
}

/**
 * What this instance knows of the counts and bans of clients in Redis. It continues from them when Redis fails, and restores them
 * when Redis has lost its data. The number is bounded, and counts are dropped when their window has passed.
 */
export class KnownCounts {
  private readonly lengths = new Map<number, Latest>();
  private readonly bans = new Map<string, { readonly subject: string; readonly until: number }>();
  private lastNow = 0;

  /** The known counts of the windows of a request; empty for addresses, of which nothing is kept. */
  of(request: QuotaRequest, now: number): KnownCount[] {
    this.lastNow = now;
    return request.isClient ? request.windows.map((window) => this.find(request.subject, window, now)) : [];
  }

  /** Stores what Redis answered. Returns whether Redis has lost a count: it answered less than before. */
  learn(known: readonly KnownCount[], { windows }: QuotaVerdict): boolean {
    let lost = false;
    for (const [index, count] of known.entries()) {
      const used = windows[index]?.used ?? 0;
      if (used >= count.seen) count.seen = used;
      else lost = this.noteToHandOver(count) || lost;
    }
    return lost;
  }

  /** Counts a request that this instance admitted by itself. */
  admittedAlone(known: readonly KnownCount[]): void {
    for (const count of known) {
      count.alone += 1;
      this.noteToHandOver(count);
    }
  }

  /** Counts a request that this instance admitted by itself and Redis has counted, too. */
  admittedInBoth(known: readonly KnownCount[]): void {
    for (const count of known) {
      count.alone += 1;
      count.handedOver += 1;
    }
  }

  /** Stores what a verdict says of the ban of a key; returns whether that is a change. */
  learnBan({ keyId, subject }: QuotaRequest, { bannedUntil }: QuotaVerdict): boolean {
    if (keyId === undefined || (bannedUntil === undefined && this.bans.size === 0)) return false;
    const known = this.bans.get(keyId);
    if (known?.until === bannedUntil) return false;
    if (bannedUntil === undefined) this.bans.delete(keyId);
    else {
      makeRoom(this.bans);
      this.bans.set(keyId, { subject, until: bannedUntil });
    }
    return true;
  }

  /** Drops the ban of a key. */
  forgetBan(keyId: string): void {
    this.bans.delete(keyId);
  }

  /** Marks all counts to be handed over. */
  noteAllToHandOver(): void {
    for (const { counts, toHandOver } of this.lengths.values())
      for (const count of counts.values()) if (count.seen > 0) toHandOver.add(count);
  }

  /** Returns at most so many of the counts that are to be handed over, and unmarks them. */
  takeToHandOver(most: number): KnownCount[] {
    const taken: KnownCount[] = [];
    for (const { toHandOver } of this.lengths.values())
      for (const count of toHandOver) {
        if (taken.length === most) return taken;
        toHandOver.delete(count);
        taken.push(count);
      }
    return taken;
  }

  /** Bans that have not ended. */
  runningBans(): { keyId: string; subject: string; until: number }[] {
    const running = [];
    for (const [keyId, ban] of this.bans)
      if (ban.until > this.lastNow) running.push({ keyId, ...ban });
      else this.bans.delete(keyId);
    return running;
  }

  private find(subject: string, { key, lengthMs }: QuotaWindow, now: number): KnownCount {
    const number = Math.floor(now / lengthMs);
    const latest = this.latestOf(lengthMs);
    // A late request of the previous window must not make that one the latest again; a clock that was set back must.
    if (number > latest.number || number < latest.number - 1) latest.turnTo(number);
    const found = latest.counts.get(key);
    if (found?.number === number) return found;
    const count: KnownCount = { subject, key, lengthMs, number, seen: 0, alone: 0, handedOver: 0 };
    if (number !== latest.number) return count;
    const forgotten = makeRoom(latest.counts);
    if (forgotten) latest.toHandOver.delete(forgotten);
    latest.counts.set(key, count);
    return count;
  }

  private latestOf(lengthMs: number): Latest {
    let latest = this.lengths.get(lengthMs);
    if (!latest) this.lengths.set(lengthMs, (latest = new Latest()));
    return latest;
  }

  /** Marks a count to be handed over; returns false if it was marked already or evicted. */
  private noteToHandOver(count: KnownCount): boolean {
    const latest = this.latestOf(count.lengthMs);
    if (latest.counts.get(count.key) !== count || latest.toHandOver.has(count)) return false;
    latest.toHandOver.add(count);
    return true;
  }
}

/** Evicts the oldest entry of a full map and returns it. */
function makeRoom<Value>(map: Map<string, Value>): Value | undefined {
  if (map.size < LARGEST) return undefined;
  for (const [key, value] of map) {
    map.delete(key);
    return value;
  }
  return undefined;
}
