import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request that has arrived and waits until the request before it is answered. */
type Waiting = readonly [request: IncomingMessage, response: ServerResponse];

/**
 * What the client has to do next: send the rest of a body (`body`), read more of a stream (`progress`), or read a complete
 * answer to its end (`end`).
 */
export type Awaited = 'body' | 'progress' | 'end';

/** What the client is expected to do, and since when. */
interface Pending {
  readonly response: ServerResponse;
  readonly awaits: Awaited;
  readonly since: number;
  /** How many bytes had left the socket's send buffer at `since`. */
  readonly read: number;
}

/** The state of one open connection. Points in time are values of `performance.now()`. */
export interface Connection {
  /** The response in progress; on an idle connection the last response, until the next check. */
  current: ServerResponse | undefined;
  /** The response whose `close` event has a listener, because something waits for its end. */
  watched: ServerResponse | undefined;
  readonly waiting: Waiting[];
  /** Called once everything that has arrived is answered. While it is set, nothing more is read from the connection. */
  last: (() => void) | undefined;
  /** How many of the received bytes belong to requests that have arrived. */
  bytesRead: number;
  /** When the time for the next head began: when the connection was opened, or when the head began to arrive. */
  headSince: number | undefined;
  pending: Pending | undefined;
}

/** Whether every request that has arrived is answered. */
export function isIdle({ current, waiting }: Connection): boolean {
  return (!current || current.closed) && waiting.length === 0;
}
