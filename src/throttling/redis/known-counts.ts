import { type BanRules, bansOf } from '../bans.js';
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
  /** Requests that this instance admitted by its share. */
  alone: number;
  /** The part of `alone` that Redis has counted. */
  handedOver: number;
}

/** A ban as this instance knows it. */
export interface KnownBan {
  readonly subject: string;
  /** In ms since the Unix epoch. */
  readonly until: number;
  /** How many bans the key has had, at least. */
  readonly bans: number;
  /** Whether it began in this instance, and Redis does not know of it. */
  isOwn: boolean;
}

/**
 * What this instance knows of the counts and bans of clients in Redis. It continues from them when Redis fails, and restores them
 * when Redis has lost its data. The number is bounded, and counts are dropped when their window has passed.
 */
export class KnownCounts {
  /** By the id of the API key. */
  private readonly bans = new Map<string, KnownBan>();
  /** By the length of the window, the counts of the latest one. */
  private readonly lengths = new Map<number, { number: number; readonly counts: Map<string, KnownCount> }>();
  private lastNow = 0;

  constructor(private readonly rules: BanRules) {}

  /** The known counts of the windows of a request; empty for addresses, of which nothing is kept. */
  of({ isClient, subject, windows }: QuotaRequest, now: number): KnownCount[] {
    this.lastNow = now;
    return isClient ? windows.map((window) => this.find(subject, window, now)) : [];
  }

  /** All counts that Redis should have. */
  all(): KnownCount[] {
    return [...this.lengths.values()].flatMap(({ counts }) =>
      [...counts.values()].filter(({ seen, alone }) => seen > 0 || alone > 0),
    );
  }

  /** Notes what a verdict says of the ban of a key; returns whether that is a change. */
  learnBan(
    { keyId, subject }: QuotaRequest,
    { bannedUntil: until, at }: QuotaVerdict,
    isOwn: boolean,
  ): boolean {
    if (keyId === undefined) return false;
    const known = this.bans.get(keyId);
    if (known?.until === until) return false;
    // Redis does not know of an own ban before it is handed over, and may admit the key until then.
    if (known?.isOwn && !isOwn && known.until > Math.max(at, until ?? 0)) return false;
    this.bans.delete(keyId);
    if (until !== undefined)
      insert(this.bans, keyId, { subject, until, bans: bansOf(until - at, this.rules), isOwn });
    return true;
  }

  /** Drops the ban of a key. */
  forgetBan(keyId: string): void {
    this.bans.delete(keyId);
  }

  /** Bans that have not ended, with the ids of their keys. */
  runningBans(): [keyId: string, ban: KnownBan][] {
    for (const [keyId, { until }] of this.bans) if (until <= this.lastNow) this.bans.delete(keyId);
    return [...this.bans];
  }

  private find(subject: string, { key, lengthMs }: QuotaWindow, now: number): KnownCount {
    const number = Math.floor(now / lengthMs);
    let latest = this.lengths.get(lengthMs);
    if (!latest) this.lengths.set(lengthMs, (latest = { number, counts: new Map() }));
    // A late request of the previous window must not make that one the latest again; a clock that was set back must.
    if (number > latest.number || number < latest.number - 1) {
      latest.number = number;
      latest.counts.clear();
    }
    const found = latest.counts.get(key);
    if (found?.number === number) return found;
    const count: KnownCount = { subject, key, lengthMs, number, seen: 0, alone: 0, handedOver: 0 };
    if (number === latest.number) insert(latest.counts, key, count);
    return count;
  }
}

/**
 * The request with the limits that this instance applies while Redis is unavailable: of each window, its share of what was left by the last
 * answer, plus what it had admitted by itself before and handed over. The share is 0 if nothing was left, else at least 1.
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

/** Adds an entry; evicts the oldest of a full map. */
function insert<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (map.size >= LARGEST) for (const oldest of map.keys()) if (map.delete(oldest)) break;
  map.set(key, value);
}
