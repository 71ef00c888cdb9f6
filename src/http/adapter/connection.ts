import type { IncomingMessage, ServerResponse } from 'node:http';

/** One request that waits for the one before it. */
type Waiting = readonly [request: IncomingMessage, response: ServerResponse];

/** What the client has to do next: send the rest of a body, read more of a stream, or read an answer to its end. */
export type Awaited = 'body' | 'progress' | 'end';

/** What a client has been expected to do since when. */
interface Pending {
  readonly response: ServerResponse;
  readonly awaits: Awaited;
  readonly since: number;
  /** How much it had read then, in bytes. */
  readonly read: number;
}

/** What is known of one open connection. Instants are of `performance.now()`. */
export interface Connection {
  /** The answer under way, or the last one when nothing is. */
  current: ServerResponse | undefined;
  /** The answer whose end something waits for. */
  watched: ServerResponse | undefined;
  readonly waiting: Waiting[];
  /** What to do once everything that has arrived is answered: the connection is read no more. */
  last: (() => void) | undefined;
  /** Bytes that belong to requests which have arrived. */
  bytesRead: number;
  /** Since when the head of the next request has been arriving. */
  headSince: number | undefined;
  pending: Pending | undefined;
}

/** Whether everything that has arrived is answered. */
export function isIdle({ current, waiting }: Connection): boolean {
  return (!current || current.closed) && waiting.length === 0;
}
