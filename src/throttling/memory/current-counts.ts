import { DAY_MS, MINUTE_MS } from '../../core/time/duration.js';

/** If the clock is set back by up to this much, in milliseconds, the current window stays current. */
const RETENTION_MS = 60_000;

/** The current window of one length. All such windows end at the same time, so neither a timer nor a scan is needed. */
class CurrentWindow {
  /** In ms since the Unix epoch. */
  start = Number.NEGATIVE_INFINITY;

  constructor(private readonly lengthMs: number) {}

  /** Moves to the window that contains `now`. Returns whether the previous window has ended or the clock was set back. */
  advanceTo(now: number): 'ended' | 'set back' | undefined {
    if (now >= this.start - RETENTION_MS && now < this.start + this.lengthMs) return undefined;
    const rotate = now >= this.start ? 'ended' : 'set back';
    this.start = Math.floor(now / this.lengthMs) * this.lengthMs;
    return rotate;
  }
}

/**
 * Counts of the current window of one length, by key. If the clock is set back, they remain: a full window stays full until the window that
 * contains the new time ends.
 */
export class WindowCounts {
  readonly window: CurrentWindow;
  private counts = new Map<string, number>();

  constructor(lengthMs: number) {
    this.window = new CurrentWindow(lengthMs);
  }

  /** Moves to the window that contains `now`. */
  advanceTo(now: number): void {
    if (this.window.advanceTo(now) === 'ended') this.counts = new Map();
  }

  /** Number of requests of a key in the current window. */
  of(key: string): number {
    return this.counts.get(key) ?? 0;
  }

  /** Sets the count of a key to `used` + 1. */
  add(key: string, used: number): void {
    this.counts.set(used === 0 ? flat(key) : key, used + 1);
  }
}

/** Requests of a client in the current minute and day. */
interface ClientCount {
  minute: number;
  /** The minute that `minute` belongs to; in any other minute the count is 0. */
  minuteNumber: number;
  /** Undefined until it is counted or read from the journal. */
  day: number | undefined;
}

/** Counts of clients. Minute and day share an object, because with a million clients, most of the time is spent finding it in memory. */
export class ClientCounts {
  readonly windows = { minute: new CurrentWindow(MINUTE_MS), day: new CurrentWindow(DAY_MS) };
  private minuteNumber = 0;
  private counts = new Map<string, ClientCount>();

  /** `isKept`: whether days can be read from the journal again after the clock was set back. */
  constructor(private readonly isJournaled: boolean) {}

  /** Moves to the minute and day that contain `now`. */
  advanceTo(now: number): void {
    const { minute, day } = this.windows;
    if (minute.advanceTo(now) === 'ended') this.minuteNumber += 1;
    const rotate = day.advanceTo(now);
    if (rotate === 'ended') this.counts = new Map();
    else if (rotate && this.isJournaled) for (const count of this.counts.values()) count.day = undefined;
  }

  /** The counts of a client; undefined if there are none. */
  find(client: string): ClientCount | undefined {
    const count = this.counts.get(client);
    if (count && count.minuteNumber !== this.minuteNumber) {
      count.minute = 0;
      count.minuteNumber = this.minuteNumber;
    }
    return count;
  }

  /** The counts of a client, to be incremented. */
  of(client: string): ClientCount {
    const found = this.find(client);
    if (found) return found;
    const count = { minute: 0, minuteNumber: this.minuteNumber, day: undefined };
    this.counts.set(flat(client), count);
    return count;
  }
}

/** V8 retains the parts of a concatenated string, which with a million clients take twice as much memory as everything else. */
function flat(key: string): string {
  return Buffer.from(key).toString();
}
