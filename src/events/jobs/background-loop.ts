import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@nestjs/common';
import { TransientMap } from '../../core/transient-map.js';
import { outsideOfSpans } from '../../core/tracing.js';
import { OneAtATime } from '../../database/one-at-a-time.js';
import type { Transactions } from '../../database/transactions/transactions.js';
import type { HeldLease, Leases } from './leases.js';

/** Polling interval for due work that this process was not notified of, in milliseconds. */
const PERIOD_MS = 1_000;
/** How long shutdown waits for aborted work, in milliseconds. */
const ABORTED_MS = 1_000;

export interface WorkItem {
  /** Items with the same key run one after the other. */
  readonly key: string;
  /** Returns whether more may be due immediately. Rejects if the database fails. */
  readonly run: (signal: AbortSignal, loop: BackgroundLoop) => Promise<boolean>;
}

/** The work of a loop. */
export interface BackgroundWork {
  /** Only the process that holds this lease works; undefined if each item has a separate lease. */
  readonly lease?: string;
  /** How many seconds the lease is kept without work, because releasing and acquiring it costs two commits. */
  readonly leaseSeconds?: number;
  /** How long shutdown waits for running items, in milliseconds, if less than SHUTDOWN_TIMEOUT_MS. */
  readonly stopMs?: number;
  /** How many items run in parallel. */
  readonly maxConcurrent: number;
  /**
   * Finds due items, the most urgent first, excluding the keys in progress: items that are running or not recorded yet. It is called before
   * the lease is acquired and again afterwards, because another process may have done some of the work. Items that do not fit are found
   * again when another has finished.
   */
  readonly findDue: (inProgress: ReadonlySet<string>) => Promise<readonly WorkItem[]>;
  /** Stores the results of items; their keys are in progress until this succeeds. */
  readonly record?: () => Promise<void>;
  /** Milliseconds until something is due, if known. */
  readonly untilDue?: () => number | undefined;
  /** Logs when the database fails and when it has recovered. */
  readonly logger: Logger;
  readonly refused: string;
  readonly recovered: string;
}

/**
 * Runs work in the background. When woken, and once a second, it polls for due work and runs it while this process holds the lease. An item
 * that hangs does not delay other keys. Nothing runs before `start()`.
 */
export class BackgroundLoop {
  private readonly polls = new OneAtATime(() => this.poll());
  private readonly running = new TransientMap<WorkItem, Promise<boolean>>();
  /** Keys of items that have finished and are not recorded yet. */
  private readonly pendingRecords: string[] = [];
  private readonly inProgress = new Set<string>();
  private readonly abort = new AbortController();
  private lease: HeldLease | undefined;
  private timer: NodeJS.Timeout | undefined;
  private wakeTimer: NodeJS.Timeout | undefined;
  private stopped: Promise<void> | undefined;
  private isServing = false;
  private isFailing = false;
  private idleSeconds = 0;
  /** Number of finished items after which more may be due. */
  private done = 0;

  constructor(
    readonly work: BackgroundWork,
    private readonly leases: Leases,
    private readonly transactions: Transactions,
  ) {}

  /** Whether no more work is started. */
  get isStopping(): boolean {
    return this.stopped !== undefined;
  }

  /** Starts polling and running due work. */
  start(): void {
    if (this.isStopping) return;
    this.isServing = true;
    this.timer = setInterval(() => {
      this.idleSeconds += 1;
      void this.pollOutside();
    }, PERIOD_MS).unref();
    this.wake();
  }

  /** Polls for due work. Call it after the commit. */
  wake(): void {
    if (this.isServing) void this.pollOutside();
  }

  /** Runs due work until none is left. Never rejects. */
  async run(): Promise<void> {
    let before: number;
    do {
      before = this.done;
      await this.pollOutside();
      await this.idle();
    } while (this.done > before);
  }

  /** Runs an item now, whether due or not, and settles like it; undefined while its key is in progress, and once `stop()` was called. */
  runNow<T>(key: string, run: (signal: AbortSignal) => Promise<T>): Promise<T> | undefined {
    if (this.isStopping || this.inProgress.has(key)) return undefined;
    this.inProgress.add(key);
    const outcome = run(this.signal);
    return this.track({ key, run: () => outcome.then(() => true) }).then(() => outcome);
  }

  /** Starts nothing more, waits at most this long for running items, then aborts them. Resolves soon after, even if they ignore that. */
  stop(timeoutMs: number): Promise<void> {
    return (this.stopped ??= this.end(timeoutMs));
  }

  private async end(timeoutMs: number): Promise<void> {
    this.isServing = false;
    clearInterval(this.timer);
    clearTimeout(this.wakeTimer);
    if (!(await this.isIdleWithin(Math.min(timeoutMs, this.work.stopMs ?? timeoutMs)))) {
      const reason = new Error('The service is stopping.');
      this.abort.abort(reason);
      this.lease?.abort.abort(reason);
      await this.isIdleWithin(ABORTED_MS);
    }
    await this.pollOutside();
  }

  private async isIdleWithin(ms: number): Promise<boolean> {
    const waiting = new AbortController();
    const late = pause(ms, false, { signal: waiting.signal }).catch(() => false);
    const isIdle = await Promise.race([this.idle().then(() => true), late]);
    waiting.abort();
    return isIdle;
  }

  /** Resolves when no item is running. */
  private async idle(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running.all().map(([, run]) => run));
  }

  /** Inside a caller's transaction, a poll would see uncommitted changes and wait for itself. */
  private pollOutside(): Promise<void> {
    return outsideOfSpans(() => this.transactions.outside(() => this.polls.run()));
  }

  /** Never rejects. */
  private async poll(): Promise<void> {
    try {
      if (this.inProgress.size === 0) this.lease?.check();
      const isLeaseLost = this.lease?.abort.signal.aborted === true;
      // Work under a lost lease must end first.
      if (isLeaseLost) await this.idle();
      await this.record();
      if (isLeaseLost) await this.returnLease();
      if (!this.isStopping && this.running.size < this.work.maxConcurrent) await this.startDue();
      if (
        this.inProgress.size === 0 &&
        (this.isStopping || this.idleSeconds >= (this.work.leaseSeconds ?? 0))
      )
        await this.returnLease();
    } catch (error) {
      this.fail(error);
    }
    this.setAlarm();
  }

  private async record(): Promise<void> {
    // Items that finish from now on are recorded by the next poll.
    const { length } = this.pendingRecords;
    await this.work.record?.();
    for (const key of this.pendingRecords.splice(0, length)) this.inProgress.delete(key);
    if (length > 0) this.recover();
  }

  private async startDue(): Promise<void> {
    const { lease } = this.work;
    let items = await this.work.findDue(this.inProgress);
    if (items.length > 0 && lease !== undefined && !this.lease) {
      this.lease = await this.leases.acquire(lease);
      if (!this.lease) return;
      // Each running item listens, which is not a leak.
      setMaxListeners(0, this.lease.abort.signal);
      items = await this.work.findDue(this.inProgress);
    }
    if (this.isStopping) return;
    if (this.inProgress.size + items.length === 0) this.recover();
    for (const item of items.slice(0, this.work.maxConcurrent - this.running.size)) {
      this.inProgress.add(item.key);
      void this.track(item);
    }
  }

  private async returnLease(): Promise<void> {
    const { lease } = this;
    this.lease = undefined;
    await lease?.release();
  }

  private get signal(): AbortSignal {
    return this.lease ? this.lease.abort.signal : this.abort.signal;
  }

  private async track(item: WorkItem): Promise<void> {
    const run = this.execute(item);
    this.running.set(item, run);
    const isMore = await run;
    this.running.delete(item);
    this.idleSeconds = 0;
    if (!isMore) return;
    this.done += 1;
    this.wake();
  }

  private async execute({ key, run }: WorkItem): Promise<boolean> {
    try {
      const isMore = await run(this.signal, this);
      if (this.work.record) this.pendingRecords.push(key);
      else {
        this.inProgress.delete(key);
        this.recover();
      }
      return isMore;
    } catch (error) {
      this.inProgress.delete(key);
      this.fail(error);
      return false;
    }
  }

  /** Polls again if something becomes due within the second. Overdue work belongs to another process, or the database has failed. */
  private setAlarm(): void {
    clearTimeout(this.wakeTimer);
    const left = this.work.untilDue?.();
    if (!this.isServing || left === undefined || left >= PERIOD_MS) return;
    this.wakeTimer = setTimeout(() => void this.pollOutside(), left).unref();
  }

  private fail(error: unknown): void {
    // A poll that started before the service stopped may find the database closed.
    if (!this.isFailing && !this.isStopping) this.work.logger.error(this.work.refused, error);
    this.isFailing = true;
  }

  private recover(): void {
    if (this.isFailing) this.work.logger.log(this.work.recovered);
    this.isFailing = false;
  }
}
