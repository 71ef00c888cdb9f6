import type { QuotaRequest, QuotaVerdict, QuotaWindow } from '../quota.js';

/** Most counts of one length, and most bans, that are remembered; of more the oldest are forgotten. */
const LARGEST = 100_000;

/** What this instance knows of one count. */
export interface KnownCount {
  readonly key: string;
  readonly lengthMs: number;
  /** Number of the window among those of its length since the Unix epoch. */
  readonly number: number;
  /** What Redis last answered. */
  seen: number;
  /** Admitted by this instance while it counted alone. */
  alone: number;
  /** That part of `alone` that Redis has been told. */
  handedOver: number;
}

/** The counts of one length that are known; only those of the latest window. */
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
 * What this instance knows of the counts and bans in Redis: it goes on from there when Redis fails, and tells a Redis
 * that has lost them. Of clients alone; bounded, and dropped when its window has passed.
 */
export class KnownCounts {
  private readonly lengths = new Map<number, Latest>();
  private readonly bans = new Map<string, { readonly subject: string; readonly until: number }>();
  private lastNow = 0;

  /** What is known in the windows of a request; empty for whom nothing is kept. */
  of(request: QuotaRequest, now: number): KnownCount[] {
    this.lastNow = now;
    return request.isClient ? request.windows.map((window) => this.find(window, now)) : [];
  }

  /** Takes up what Redis answered. Answers whether it has counted less than it had before. */
  learn(known: readonly KnownCount[], { windows }: QuotaVerdict): boolean {
    let lost = false;
    for (const [index, count] of known.entries()) {
      const used = windows[index]?.used ?? 0;
      if (used >= count.seen) count.seen = used;
      else lost = this.noteToHandOver(count) || lost;
    }
    return lost;
  }

  /** Notes a request that this instance admitted by itself. */
  admittedAlone(known: readonly KnownCount[]): void {
    for (const count of known) {
      count.alone += 1;
      this.noteToHandOver(count);
    }
  }

  /** Notes what a verdict says of the ban of a key; answers whether that is news. */
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

  /** Forgets the ban of a key. */
  forgetBan(keyId: string): void {
    this.bans.delete(keyId);
  }

  /** From now on all counts are to be handed over. */
  noteAllToHandOver(): void {
    for (const { counts, toHandOver } of this.lengths.values())
      for (const count of counts.values()) if (count.seen > 0) toHandOver.add(count);
  }

  /** Takes out what is to be handed over, at most so many. */
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

  private find({ key, lengthMs }: QuotaWindow, now: number): KnownCount {
    const number = Math.floor(now / lengthMs);
    const latest = this.latestOf(lengthMs);
    // A straggler of the window before turns nothing back; a clock that was set back does.
    if (number > latest.number || number < latest.number - 1) latest.turnTo(number);
    const found = latest.counts.get(key);
    if (found?.number === number) return found;
    const count = { key, lengthMs, number, seen: 0, alone: 0, handedOver: 0 };
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

  /** Answers whether it was not noted before. */
  private noteToHandOver(count: KnownCount): boolean {
    const latest = this.latestOf(count.lengthMs);
    if (latest.counts.get(count.key) !== count || latest.toHandOver.has(count)) return false;
    latest.toHandOver.add(count);
    return true;
  }
}

/** Drops the oldest entry of a full map, and answers it. */
function makeRoom<Value>(map: Map<string, Value>): Value | undefined {
  if (map.size < LARGEST) return undefined;
  for (const [key, value] of map) {
    map.delete(key);
    return value;
  }
  return undefined;
}

/**
 * The request as this instance decides it alone: of each window, its part of what was left when Redis last answered,
 * beside what it has already admitted alone and told. Nothing where nothing was left, else at least 1.
 */
export function shareOf(
  request: QuotaRequest,
  known: readonly KnownCount[],
  instances: number,
): QuotaRequest {
  const windows = request.windows.map((window, index) => {
    const { seen = 0, handedOver = 0 } = known[index] ?? {};
    const left = window.limit - seen;
    return { ...window, limit: handedOver + (left > 0 ? Math.max(1, Math.floor(left / instances)) : 0) };
  });
  return { ...request, windows };
}

/**
 * What is told of such a decision: as the limit the part of the plan that this instance may admit in a whole window,
 * what remains as decided.
 */
export function reportedVerdict(
  verdict: QuotaVerdict,
  request: QuotaRequest,
  instances: number,
): QuotaVerdict {
  const windows = verdict.windows.map((state, index) => {
    const limit = Math.max(1, Math.floor((request.windows[index]?.limit ?? state.limit) / instances));
    return { ...state, limit, used: limit - state.remaining };
  });
  return { ...verdict, windows };
}
