import { DAY_MS, MINUTE_MS } from '../quota.js';

/** When the clock is set back by up to this much, the current window stays current, in milliseconds. */
const HELD_MS = 60_000;

/** Whether a window is the current one: `now` is in it, or less than a minute before it because the clock was put back. */
export function isCurrent(start: number, lengthMs: number, now: number): boolean {
  return now >= start - HELD_MS && now < start + lengthMs;
}

/**
 * Counts of the current window of one length, by key. All windows of one length end at the same instant, so all counts are dropped
 * together; no timer and no scan is needed, and nothing of a past window is kept.
 */
export class WindowCounts {
  /** Start of the current window, in ms since the Unix epoch. */
  start = Number.NEGATIVE_INFINITY;
  private counts = new Map<string, number>();

  constructor(readonly lengthMs: number) {}

  /**
   * Makes the window that contains `now` the current one. If the previous one has ended, its counts are dropped; if the clock was
   * set back, they are kept, so that a full window stays full until the window that the clock is now in ends.
   */
  turnTo(now: number): void {
    if (isCurrent(this.start, this.lengthMs, now)) return;
    if (now >= this.start) this.counts = new Map();
    this.start = Math.floor(now / this.lengthMs) * this.lengthMs;
  }

  /** Requests counted for a key in the current window. */
  of(key: string): number {
    return this.counts.get(key) ?? 0;
  }

  /** Sets the count of a key. The string is kept: a new one should come from CompactKeys. */
  set(key: string, used: number): void {
    this.counts.set(key, used);
  }
}

/** Numbers per client: in which minute it was last counted, requests in that minute, requests in the day, flags. */
const LANES = 4;
const MINUTE_TURN = 0;
const MINUTE_USED = 1;
const DAY_USED = 2;
const FLAGS = 3;
const DAY_KNOWN = 1;
const FIRST_CAPACITY = 1_024;

/**
 * Counts of the current minute and day of every client seen today, next to each other in one array, so that one map look-up finds
 * both. With a million clients nearly all the time of a decision is spent on cache misses of the processor, and one map per window
 * would have twice as many. Everything is dropped at the end of the day.
 */
export class ClientCounts {
  /** Start of the current minute and day, in ms since the Unix epoch. */
  minuteStart = Number.NEGATIVE_INFINITY;
  dayStart = Number.NEGATIVE_INFINITY;
  private turn = 0;
  private slots = new Map<string, number>();
  private lanes = new Uint32Array(FIRST_CAPACITY * LANES);
  private lastClient = '';
  private lastFound: number | undefined;

  /**
   * Makes the minute and the day that contain `now` the current ones, and drops the counts of those that have ended. If the clock
   * was set back, counts are kept as in WindowCounts, and those of the day are read from the journal again where there is one.
   */
  turnTo(now: number): void {
    if (!isCurrent(this.minuteStart, MINUTE_MS, now)) {
      if (now >= this.minuteStart) this.turn += 1;
      this.minuteStart = Math.floor(now / MINUTE_MS) * MINUTE_MS;
    }
    if (!isCurrent(this.dayStart, DAY_MS, now)) {
      if (now >= this.dayStart) this.forgetClients();
      else this.forgetThatDaysAreKnown();
      this.dayStart = Math.floor(now / DAY_MS) * DAY_MS;
    }
  }

  private forgetThatDaysAreKnown(): void {
    for (const at of this.slots.values()) this.lanes[at + FLAGS] = 0;
  }

  private forgetClients(): void {
    this.slots = new Map();
    this.lanes = new Uint32Array(FIRST_CAPACITY * LANES);
    this.lastFound = undefined;
  }

  /** The position of a client's counts, for the methods below; undefined if the client was not seen today. */
  find(client: string): number | undefined {
    // A decision first reads and then counts, so two look-ups in a row are mostly for the same client.
    if (client !== this.lastClient || this.lastFound === undefined) {
      this.lastClient = client;
      this.lastFound = this.slots.get(client);
    }
    return this.lastFound;
  }

  /** Adds a client that was not seen today and returns its position. The string is kept. */
  add(client: string): number {
    const at = this.slots.size * LANES;
    if (at === this.lanes.length) {
      const larger = new Uint32Array(this.lanes.length * 2);
      larger.set(this.lanes);
      this.lanes = larger;
    }
    this.slots.set(client, at);
    return at;
  }

  /** Requests counted in the current minute. */
  minuteUsed(at: number): number {
    return this.lanes[at + MINUTE_TURN] === this.turn ? (this.lanes[at + MINUTE_USED] ?? 0) : 0;
  }

  /** Sets the requests counted in the current minute. */
  setMinute(at: number, used: number): void {
    this.lanes[at + MINUTE_TURN] = this.turn;
    this.lanes[at + MINUTE_USED] = used;
  }

  /** Requests counted in the current day. */
  dayUsed(at: number): number {
    return this.lanes[at + DAY_USED] ?? 0;
  }

  /** Sets the requests counted in the current day, and marks them as known. */
  setDay(at: number, used: number): void {
    this.lanes[at + DAY_USED] = used;
    this.lanes[at + FLAGS] = DAY_KNOWN;
  }

  /** Whether the count of the day is known: counted here, or read from the journal. */
  knowsDay(at: number | undefined): boolean {
    return at !== undefined && this.lanes[at + FLAGS] === DAY_KNOWN;
  }
}

/**
 * Copies strings that are kept as keys. V8 keeps the parts of a concatenated string; with a million clients that takes 400 bytes
 * each more than a flat copy.
 */
export class CompactKeys {
  private last = '';
  private copy = '';

  /** A flat copy; the same one for the same key twice in a row, so that the windows of a request share it. */
  of(key: string): string {
    if (key !== this.last) {
      this.last = key;
      this.copy = Buffer.from(key).toString();
    }
    return this.copy;
  }
}
