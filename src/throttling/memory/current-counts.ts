import { DAY_MS, MINUTE_MS } from '../quota.js';

/** A step back of the clock up to this goes back into no window that has ended, in milliseconds. */
const HELD_MS = 60_000;

/** Whether a window is the current one: `now` is in it, or less than a minute before it because the clock was put back. */
export function isCurrent(start: number, lengthMs: number, now: number): boolean {
  return now >= start - HELD_MS && now < start + lengthMs;
}

/**
 * Counts of the current window of one length. All windows of one length end at the same instant, so that their
 * counts are dropped together: no timer, no scan, nothing kept of a window that has passed.
 */
export class WindowCounts {
  /** Start of the current window, in ms since the Unix epoch. */
  start = Number.NEGATIVE_INFINITY;
  private counts = new Map<string, number>();

  constructor(readonly lengthMs: number) {}

  /**
   * Turns to the window that `now` is in; the counts of one that has ended are dropped. A clock that was put back takes them
   * along: what was used up before stays so until the window ends that the clock is in now.
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

  /** Sets the count of a key; one that is new should come from CompactKeys. */
  set(key: string, used: number): void {
    this.counts.set(key, used);
  }
}

/** What one client takes: the turn of the minute that was counted, requests in it, requests in the day, flags. */
const LANES = 4;
const MINUTE_TURN = 0;
const MINUTE_USED = 1;
const DAY_USED = 2;
const FLAGS = 3;
const DAY_KNOWN = 1;
const FIRST_CAPACITY = 1_024;

/**
 * Minute and day of every client seen today, side by side: one look-up by name finds both. With a million clients
 * nearly all the time of a decision is waiting for memory, and a map for each window would wait twice. Everything
 * is dropped when the day turns.
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
   * Turns to the minute and the day that `now` is in; the counts of those that have ended are forgotten. A clock that was put
   * back takes the minute's counts along, and the day's too unless they are read anew: see WindowCounts.
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

  /** Where a client's counts are; undefined when it was not seen today. */
  find(client: string): number | undefined {
    // A decision looks and then counts: the second time is for the same client.
    if (client !== this.lastClient || this.lastFound === undefined) {
      this.lastClient = client;
      this.lastFound = this.slots.get(client);
    }
    return this.lastFound;
  }

  /** Makes room for a client that was not seen today. The string is kept. */
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

  /** Sets the requests counted in the current day, which is known from now on. */
  setDay(at: number, used: number): void {
    this.lanes[at + DAY_USED] = used;
    this.lanes[at + FLAGS] = DAY_KNOWN;
  }

  /** Whether the day's count was set, or read back after a restart. */
  knowsDay(at: number | undefined): boolean {
    return at !== undefined && this.lanes[at + FLAGS] === DAY_KNOWN;
  }
}

/**
 * Makes the strings that are kept as keys small. A string put together from parts keeps the parts: with a million
 * clients that is 400 bytes each more than a copy in one piece.
 */
export class CompactKeys {
  private last = '';
  private copy = '';

  /** A copy in one piece; the same one for a key that is asked for twice running, so that windows share it. */
  of(key: string): string {
    if (key !== this.last) {
      this.last = key;
      this.copy = Buffer.from(key).toString();
    }
    return this.copy;
  }
}
