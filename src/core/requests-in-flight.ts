import type { ServerResponse } from 'node:http';

/** Window in which responses are counted, in milliseconds: longer than a batch of writes, whose responses come together. */
const WINDOW_MS = 250;
/** Weight of the latest window in the rate; earlier windows have the rest. */
const WEIGHT = 0.5;
/**
 * The minimum share of the previous rate that remains after a window, however few responses the window had. Refusals also take time, so
 * fewer responses alone do not mean less capacity. Without this limit, refusals would lead to more refusals.
 */
const HELD = 0.95;

/** Maximum time for which the work for a disconnected client counts, in milliseconds, because it may never end. */
const MAX_ABANDONED_MS = 30_000;

/** Properties of a response of the service's server, for counting its request. */
export interface Countable {
  /** Set while the request counts: until the head of its response is sent or the response has ended. */
  countedIn: RequestsInFlight | undefined;
  abandoned: NodeJS.Timeout | undefined;
  /** Whether the request waits for something, so that it does not count. */
  isWaiting: boolean;
}

/** Whether a response comes from the service's own server. */
export function isCountable(response: ServerResponse): response is ServerResponse & Countable {
  return 'countedIn' in response;
}

/** Called when the client is gone, which the handler may not know. Its work counts for at most 30 s from now. */
export function abandon(response: ServerResponse): void {
  if (!isCountable(response) || !response.countedIn) return;
  response.abandoned = setTimeout(() => response.countedIn?.end(response), MAX_ABANDONED_MS).unref();
}

/** Stops counting a request until it is resumed, because it waits for other requests or for an external service. */
export function suspend(response: ServerResponse): void {
  if (!isCountable(response) || response.isWaiting) return;
  response.isWaiting = true;
  if (response.countedIn) response.countedIn.count -= 1;
}

/** Counts a suspended request again. */
export function resume(response: ServerResponse): void {
  if (!isCountable(response) || !response.isWaiting) return;
  response.isWaiting = false;
  if (response.countedIn) response.countedIn.count += 1;
}

/** Counts the requests that the service is working on. Counting is cheap: the clock is read only for the rate. */
export class RequestsInFlight {
  count = 0;
  private completed = 0;
  private since = performance.now();
  private rate = 0;

  /** Counts a request, unless it already has a response or its client is gone. */
  start(response: ServerResponse & Countable): void {
    if (response.headersSent || response.req.socket.destroyed) return;
    response.countedIn = this;
    if (!response.isWaiting) this.count += 1;
  }

  /** Stops counting a request. */
  end(response: Countable): void {
    response.countedIn = undefined;
    clearTimeout(response.abandoned);
    if (response.isWaiting) return;
    this.count -= 1;
    this.completed += 1;
  }

  /** Current responses per second; after a time without a call, the mean of that time. A lower rate takes effect after some seconds. */
  get completedPerSecond(): number {
    const now = performance.now();
    const elapsedMs = now - this.since;
    if (elapsedMs < WINDOW_MS) return this.rate;
    const latest = (this.completed * 1_000) / elapsedMs;
    const rate = elapsedMs > 2 * WINDOW_MS ? latest : WEIGHT * latest + (1 - WEIGHT) * this.rate;
    this.rate = Math.max(rate, this.rate * HELD ** (elapsedMs / WINDOW_MS));
    this.completed = 0;
    this.since = now;
    return this.rate;
  }
}
