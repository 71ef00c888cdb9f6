import { DAY_MS, MINUTE_MS } from '../../core/time/duration.js';

/** When the clock is set back by up to this much, the current window stays current, in milliseconds. */
const RETENTION_MS = 60_000;

/** The current one of the windows of one length, which all end at the same instant: no timer and no scan is needed. */
class CurrentWindow {
  /** In ms since the Unix epoch. */
  start = Number.NEGATIVE_INFINITY;

  constructor(private readonly lengthMs: number) {}

  /** Makes the window that contains `now` the current one. Returns whether the previous one has ended, or the clock was set back. */
  advanceTo(now: number): 'ended' | 'set back' | undefined {
    if (now >= this.start - RETENTION_MS && now < this.start + this.lengthMs) return undefined;
    const rotate = now >= this.start ? 'ended' : 'set back';
    this.start = Math.floor(now / this.lengthMs) * this.lengthMs;
    return rotate;
  }
}

/**
 * Counts of the current window of one length, by key. When the clock is set back, they stay: a full window stays full until the
 * window that the clock is now in ends.
 */
export class WindowCounts {
  readonly window: CurrentWindow;
  private counts = new Map<string, number>();

  constructor(lengthMs: number) {
    this.window = new CurrentWindow(lengthMs);
  }

  /** Makes the window that contains `now` the current one. */
  advanceTo(now: number): void {
    if (this.window.advanceTo(now) === 'ended') this.counts = new Map();
  }

  /** Requests counted for a key in the current window. */
  of(key: string): number {
    return this.counts.get(key) ?? 0;
  }

  /** Sets the count of a key to one more than `used`. */
  add(key: string, used: number): void {
    this.counts.set(used === 0 ? flat(key) : key, used + 1);
  }
}

/** What a client has used in the current minute and day. */
interface ClientCount {
  minute: number;
  /** The number of the minute that was counted; `minute` is 0 in every other one. */
  minuteNumber: number;
  /** Undefined until it is counted, or read from the journal. */
  day: number | undefined;
}

/** Counts of clients. Both are in one object: with a million clients, most of the time goes into finding it in memory. */
export class ClientCounts {
  readonly windows = { minute: new CurrentWindow(MINUTE_MS), day: new CurrentWindow(DAY_MS) };
  private minuteNumber = 0;
  private counts = new Map<string, ClientCount>();

  /** `isKept`: whether days can be read from the journal again, when the clock was set back. */
  constructor(private readonly isKept: boolean) {}

  /** Makes the minute and the day that contain `now` the current ones. */
  advanceTo(now: number): void {
    const { minute, day } = this.windows;
    if (minute.advanceTo(now) === 'ended') this.minuteNumber += 1;
    const rotate = day.advanceTo(now);
    if (rotate === 'ended') this.counts = new Map();
    else if (rotate && this.isKept) for (const count of this.counts.values()) count.day = undefined;
  }

  /** What a client has used; undefined if nothing. */
  find(client: string): ClientCount | undefined {
    const count = this.counts.get(client);
    if (count && count.minuteNumber !== this.minuteNumber) {
      count.minute = 0;
      count.minuteNumber = this.minuteNumber;
    }
    return count;
  }

  /** What a client has used, to be added to. */
  of(client: string): ClientCount {
    const found = this.find(client);
    if (found) return found;
    const count = { minute: 0, minuteNumber: this.minuteNumber, day: undefined };
    this.counts.set(flat(client), count);
    return count;
  }
}

/** V8 keeps the parts of a concatenated string, which with a million clients take twice as much memory as all the rest. */
function flat(key: string): string {
  return Buffer.from(key).toString();
}
