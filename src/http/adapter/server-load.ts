import type { ServerResponse } from 'node:http';
import { MessageChannel } from 'node:worker_threads';

/** Shortest time between two probes, in milliseconds. */
const PERIOD_MS = 20;
/** After this time without a probe the last one says nothing about now, in milliseconds. */
const FORGOTTEN_AFTER_MS = 1_000;

/**
 * Measures how long new work waits for the event loop. A message that the process sends to itself is queued with the
 * requests of all connections, so it waits as long as they do; a timer would not, because libuv runs none while more than 1,024
 * connections have something to read. A pause, such as one of the garbage collector, makes one probe late. A queue that the
 * service does not get through makes every probe late, and `isStanding()` reports only that. A probe is sent only when a
 * request arrives: an idle process is not woken.
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
    return performance.now() - this.sentAt > FORGOTTEN_AFTER_MS + this.latest ? 0 : this.latest;
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
  isStanding(): boolean {
    return this.isUnderWay && this.latest > this.boundMs && performance.now() - this.sentAt > this.boundMs;
  }
}

/** Time over which responses are counted, in milliseconds: longer than a group of writes, whose responses come together. */
const WINDOW_MS = 250;
/** The share of the latest window in the rate; the windows before have the rest. */
const WEIGHT = 0.5;
/**
 * What is left of a rate after a window with fewer responses: refusing takes time, too, so that fewer responses alone do not show that
 * the service can carry less. The less it could serve, the more it would refuse.
 */
const HELD = 0.95;

/** How long the work for a disconnected client counts at most, in milliseconds: it may never end. */
const MOST_ABANDONED_MS = 30_000;

/** Property of a response of the service's server, for counting its request. */
export interface Countable {
  /** Where the request counts: until the head of its response is sent or the response is ended. */
  countedIn: RequestsInFlight | undefined;
  abandoned: NodeJS.Timeout | undefined;
}

/** Whether a response is one of the service's own server. */
export function isCountable(response: ServerResponse): response is ServerResponse & Countable {
  return 'countedIn' in response;
}

/** The client is gone, which the handler may not know: its work counts for 30 s at most from now on. */
export function abandon(response: ServerResponse): void {
  if (!isCountable(response) || !response.countedIn) return;
  response.abandoned = setTimeout(() => response.countedIn?.end(response), MOST_ABANDONED_MS).unref();
}

/** Counts the requests that the service works on. Counting costs nothing: the clock is read only for the rate. */
export class RequestsInFlight {
  /** How many requests the service works on. */
  count = 0;
  private answered = 0;
  private since = performance.now();
  private rate = 0;

  /** The work on a request begins, unless it already has a response or its client is gone. */
  begin(response: ServerResponse & Countable): void {
    if (response.headersSent || response.req.socket.destroyed) return;
    response.countedIn = this;
    this.count += 1;
  }

  /** The work on a request that counts here is over. */
  end(response: Countable): void {
    response.countedIn = undefined;
    clearTimeout(response.abandoned);
    this.count -= 1;
    this.answered += 1;
  }

  /** Current responses per second; after a time without a call, the mean of that time. A lower rate counts after some seconds. */
  get answeredPerSecond(): number {
    const now = performance.now();
    const elapsedMs = now - this.since;
    if (elapsedMs < WINDOW_MS) return this.rate;
    const latest = (this.answered * 1_000) / elapsedMs;
    const rate = elapsedMs > 2 * WINDOW_MS ? latest : WEIGHT * latest + (1 - WEIGHT) * this.rate;
    this.rate = Math.max(rate, this.rate * HELD ** (elapsedMs / WINDOW_MS));
    this.answered = 0;
    this.since = now;
    return this.rate;
  }
}
