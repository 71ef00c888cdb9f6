import { AsyncLocalStorage } from 'node:async_hooks';
import { TransientMap } from '../../core/transient-map.js';
import { RequestWaits } from '../request-waits.js';
import { busy } from './postgres-errors.js';

/** How often it is looked whether something takes long, in milliseconds. */
const LOOK_MS = 100;
/** At how many looks in a row something must be there to take long. Looks, not time: an event loop that is late looks late, too. */
const LONG_LOOKS = 4;
/** How long nothing may have taken long for requests to be left alone again, in milliseconds. */
const CALM_MS = 5_000;
/** The least time that something is given of which nobody knows for which request it is, in milliseconds. */
const LEAST_MS = 500;
/** A limit that is shorter than the general one by less is left to that, in milliseconds: it saves a statement. */
const SAME_MS = 50;

/** How long one request may still wait for the database. Waits at the same time count once. */
export class Patience {
  private underWay = 0;
  private since = 0;

  /** `leftMs` is in milliseconds, as are the instants below, by `performance.now()`. */
  constructor(private leftMs: number) {}

  /** A wait begins. */
  begin(now: number): void {
    if (this.underWay === 0) this.since = now;
    this.underWay += 1;
  }

  /** A wait ends. */
  end(now: number): void {
    this.underWay -= 1;
    if (this.underWay === 0) this.leftMs -= now - this.since;
  }

  /** How much is left; 0 or less when it is over. */
  at(now: number): number {
    return this.leftMs - (this.underWay === 0 ? 0 : now - this.since);
  }
}

/** Something that is under way. */
interface Wait {
  /** The look before its begin. */
  readonly look: number;
  readonly since: number;
}

/**
 * How long requests wait for PostgreSQL. All waits of one request together (for connections, statements, locks, repeated reads) end
 * after the limit of one statement. To know which wait is of which request costs a tenth of a request on Node.js 20
 * (AsyncLocalStorage), so that is done only while something takes long: from half a second after the first wait that did. A wait
 * that began before, of which nobody knows for which request it is, ends as if its request had waited since then.
 */
export class PostgresWaits extends RequestWaits {
  private readonly patience = new AsyncLocalStorage<Patience>();
  private readonly underWay = new TransientMap<Wait, true>();
  private looks = 0;
  private timer: NodeJS.Timeout | undefined;
  /** Since when something takes long, and when something last did. */
  private slow: { readonly since: number; lastAt: number } | undefined;

  /** `limitMs` is what one request may wait, in milliseconds; 0 for no limit. */
  constructor(private readonly limitMs: number) {
    super();
  }

  run<T>(request: () => T): T {
    return this.slow ? this.patience.run(new Patience(this.limitMs), request) : request();
  }

  begin(): { readonly leftMs: () => number; readonly end: () => void } {
    const patience =
      this.patience.getStore() ?? new Patience(this.limitFor(performance.now()) ?? this.limitMs);
    patience.begin(performance.now());
    return {
      leftMs: () => (this.limitMs === 0 ? Infinity : patience.at(performance.now())),
      end: () => patience.end(performance.now()),
    };
  }

  within<T>(leftMs: number, work: () => T): T {
    // Otherwise the work would take the patience of the request that happened to begin it.
    const isKnown = this.slow !== undefined || this.patience.getStore() !== undefined;
    return isKnown && this.limitMs > 0 ? this.patience.run(new Patience(leftMs), work) : work();
  }

  bounded<T>(shared: Promise<T>): Promise<T> {
    // Nobody may be left to hear that it failed.
    shared.catch(() => undefined);
    return this.wait((limitMs) => withinLimit(shared, limitMs)).catch((error: unknown) => {
      throw error instanceof WaitedTooLong ? busy(error) : error;
    });
  }

  /**
   * Runs what waits for the database, with the time that it may take in milliseconds; undefined where the general limits do. Throws
   * WaitedTooLong when the caller's request has waited for as long as it may.
   */
  async wait<T>(work: (limitMs: number | undefined) => Promise<T>): Promise<T> {
    if (this.limitMs === 0) return work(undefined);
    const now = performance.now();
    const limitMs = this.limitFor(now);
    if (limitMs !== undefined && limitMs <= 0) throw new WaitedTooLong();
    return this.timed(now, () => work(limitMs));
  }

  /** The same for what ends a transaction: it must not be left out, however long its request has waited. */
  async ending<T>(work: (limitMs: number | undefined) => Promise<T>): Promise<T> {
    const now = performance.now();
    const limitMs = this.limitMs === 0 ? undefined : this.limitFor(now);
    return this.timed(now, () => work(limitMs === undefined ? undefined : Math.max(limitMs, 0)));
  }

  /** Looks no more. */
  end(): void {
    clearInterval(this.timer);
    this.patience.disable();
  }

  private async timed<T>(now: number, work: () => Promise<T>): Promise<T> {
    const wait = { look: this.looks, since: now };
    const patience = this.patience.getStore();
    this.underWay.set(wait, true);
    patience?.begin(now);
    this.watch();
    try {
      return await work();
    } finally {
      this.underWay.delete(wait);
      patience?.end(performance.now());
    }
  }

  private limitFor(now: number): number | undefined {
    if (!this.slow) return undefined;
    const patience = this.patience.getStore();
    let limitMs = patience?.at(now);
    if (limitMs === undefined) {
      const slowMs = now - this.slow.since;
      // By then every request has ended that began before it was known.
      if (slowMs > this.limitMs + 2 * LEAST_MS) return undefined;
      limitMs = Math.max(this.limitMs - slowMs, LEAST_MS);
    }
    return limitMs > this.limitMs - SAME_MS ? undefined : limitMs;
  }

  private watch(): void {
    if (this.timer) return;
    this.timer = setInterval(() => this.look(), LOOK_MS);
    // The timer alone must not keep the process running.
    this.timer.unref();
  }

  private look(): void {
    this.looks += 1;
    const now = performance.now();
    const [oldest] = this.underWay.first() ?? [];
    if (oldest && this.looks - oldest.look >= LONG_LOOKS) {
      this.slow ??= { since: oldest.since, lastAt: now };
      this.slow.lastAt = now;
    } else if (this.slow && now - this.slow.lastAt > CALM_MS) {
      this.slow = undefined;
      this.patience.disable();
    }
    if (oldest || this.slow) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

/** A request has waited for the database for as long as it may. */
export class WaitedTooLong extends Error {
  constructor() {
    super('a request has waited for as long as it may');
  }
}

/** What a promise settles to; rejects with WaitedTooLong after that time, in milliseconds. */
export function withinLimit<T>(promise: Promise<T>, limitMs: number | undefined): Promise<T> {
  if (limitMs === undefined) return promise;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new WaitedTooLong()), limitMs);
    promise.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}
