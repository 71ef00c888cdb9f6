import { MessageChannel } from 'node:worker_threads';

/** Minimum time between two probes, in milliseconds. */
const PERIOD_MS = 20;
/** After this time without a probe, in milliseconds, the last one is outdated. */
const EXPIRES_AFTER_MS = 1_000;

/**
 * Measures how long new work waits for the event loop. A message that the process sends to itself is queued with the requests of all
 * connections, so it waits as long as they do. A timer would not: libuv runs no timers while more than 1,024 connections have something to
 * read. A pause, such as a garbage collection, delays one probe; a growing queue delays every probe, and only that is reported by
 * `isBlocked()`. Probes are sent only when requests arrive, so that an idle process is not woken.
 */
export class EventLoopLag {
  private readonly channel = new MessageChannel();
  private sentAt = Number.NEGATIVE_INFINITY;
  private isUnderWay = false;
  private latest = 0;

  /** `boundMs`: the maximum tolerated lag, in milliseconds. */
  constructor(private readonly boundMs: number) {
    this.channel.port2.on('message', () => {
      this.latest = performance.now() - this.sentAt;
      this.isUnderWay = false;
    });
    // It must not keep the process running.
    this.channel.port2.unref();
  }

  /** The lag measured by the latest probe, in milliseconds; 0 without requests. */
  get ms(): number {
    return performance.now() - this.sentAt > EXPIRES_AFTER_MS + this.latest ? 0 : this.latest;
  }

  /** Sends a probe if needed. Call it for each request. */
  watch(): void {
    if (this.isUnderWay) return;
    const now = performance.now();
    if (now - this.sentAt < PERIOD_MS) return;
    this.latest = this.ms;
    this.sentAt = now;
    this.isUnderWay = true;
    this.channel.port1.postMessage(null);
  }

  /** Whether the latest probe and the running one both exceed the bound. */
  isBlocked(): boolean {
    return this.isUnderWay && this.latest > this.boundMs && performance.now() - this.sentAt > this.boundMs;
  }
}
