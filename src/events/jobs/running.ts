import { setTimeout as pause } from 'node:timers/promises';

/** How long a stop waits for what it has aborted, in milliseconds. */
const ABORTED_MS = 1_000;

/** What runs in this process in the background: of each name once, and waited for when the service stops. */
export class Running {
  private readonly work = new Map<string, Promise<unknown>>();
  private readonly abort = new AbortController();
  private stopped: Promise<void> | undefined;

  /** Aborts when the service stops and what runs has had its time. */
  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** Whether nothing is begun any more. */
  get isStopping(): boolean {
    return this.stopped !== undefined;
  }

  /** Whether work of this name runs. */
  has(name: string): boolean {
    return this.work.has(name);
  }

  /** Runs work, unless work of this name runs or the service stops: then undefined. */
  async run<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    if (this.isStopping || this.work.has(name)) return undefined;
    const running = work().finally(() => this.work.delete(name));
    this.work.set(name, running);
    return running;
  }

  /** Resolves when what runs now has ended, however it does. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.work.values());
  }

  /** Begins nothing more, waits at most this long, and aborts what is left. Resolves soon after, also if that ignores it. */
  stop(timeoutMs: number): Promise<void> {
    this.stopped ??= this.end(timeoutMs);
    return this.stopped;
  }

  private async end(timeoutMs: number): Promise<void> {
    if (await this.within(timeoutMs)) return;
    this.abort.abort(new Error('The service stops.'));
    await this.within(ABORTED_MS);
  }

  /** Whether what runs ends in this time. */
  private async within(ms: number): Promise<boolean> {
    if (this.work.size === 0) return true;
    const waiting = new AbortController();
    const late = pause(ms, false, { signal: waiting.signal }).catch(() => false);
    const ended = await Promise.race([this.settled().then(() => true), late]);
    waiting.abort();
    return ended;
  }
}
