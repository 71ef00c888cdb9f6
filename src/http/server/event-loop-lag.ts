import { MessageChannel } from 'node:worker_threads';

/** Shortest time between two probes, in milliseconds. */
const PERIOD_MS = 20;
/** After this time without a probe the last one says nothing about now, in milliseconds. */
const EXPIRES_AFTER_MS = 1_000;

/**
 * Measures how long new work waits for the event loop. A message that the process sends to itself is queued with the requests of all
 * connections, so it waits as long as they do; a timer would not, because libuv runs none while more than 1,024 connections have something
 * to read. A pause, such as one of the garbage collector, makes one probe late. A queue that the service does not get through makes every
 * probe late, and `isStanding()` reports only that. A probe is sent only when a request arrives: an idle process is not woken.
 */
export class EventLoopLag {
  private readonly channel = new MessageChannel();
  private sentAt = Number.NEGATIVE_INFINITY;
  private isUnderWay = false;
  private latest = 0;

  /** `boundMs`: the longest tolerated lag, in milliseconds. */
  constructor(private readonly boundMs: number) {
    this.channel.port2.on('message', () => {
      this.latest = performance.now() - this.sentAt;
      this.isUnderWay = false;
    });
    // It must not keep the process running.
    this.channel.port2.unref();
  }

  /** The lag that the latest probe found, in milliseconds; 0 without requests. */
  get ms(): number {
    return performance.now() - this.sentAt > EXPIRES_AFTER_MS + this.latest ? 0 : this.latest;
  }

  /** To be called for each request, so that the loop is probed. */
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
