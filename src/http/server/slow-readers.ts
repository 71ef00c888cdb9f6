import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isEventStream } from '../../core/event-stream.js';

/**
 * Time without an event after which an event stream sends a comment, in milliseconds, as the HTML standard advises (9.2.7). Shorter than
 * the timeout of the proxies in deploy/ (proxy_read_timeout).
 */
const MAX_QUIET_MS = 8_000;

/** The state of a response, and when it entered this state. */
export interface Reading {
  readonly response: ServerResponse;
  /**
   * Waits for the client to read more of a stream, for the client to read a complete response to its end, or for the next event of an event
   * stream.
   */
  readonly awaits: 'progress' | 'end' | 'event';
  /** A value of `performance.now()`. */
  readonly since: number;
  /**
   * How many bytes the operating system had taken from the socket at `since`. Compared only for equality: while the system has taken only
   * part of a piece, the rest of it is subtracted twice.
   */
  readonly read: number;
}

/**
 * Checks the response in progress on a connection. Call it every second with the previous result. Closes the connection if the client has
 * not read a complete response, or any more of a stream, within `limitMs` milliseconds. Keeps quiet event streams alive. Node has no
 * timeout for this. `now` is a value of `performance.now()`.
 */
export function checkReading(
  socket: Socket,
  response: ServerResponse,
  last: Reading | undefined,
  now: number,
  limitMs: number,
): Reading | undefined {
  const awaits = awaitedOf(socket, response);
  if (awaits === undefined) return undefined;
  // The buffered length of a large piece does not change until the system has taken all of it; only the handle knows the rest.
  const { writeQueueSize = 0 } = (socket as { _handle?: { writeQueueSize?: number } | null })._handle ?? {};
  const read = socket.bytesWritten - socket.writableLength - writeQueueSize;
  const isSame = last?.response === response && last.awaits === awaits;
  if (!isSame || (awaits !== 'end' && last.read !== read)) return { response, awaits, since: now, read };
  if (awaits === 'event') {
    // Clients ignore a comment. It shows proxies that the connection is alive, and detects clients that are gone.
    if (now - last.since >= MAX_QUIET_MS) response.write(':\n\n');
  } else if (now - last.since >= limitMs) socket.destroy();
  return last;
}

/** Undefined while the service works on the response. */
function awaitedOf(socket: Socket, response: ServerResponse): Reading['awaits'] | undefined {
  if (response.writableEnded) return 'end';
  if (socket.writableLength > 0) return 'progress';
  return isEventStream(response) ? 'event' : undefined;
}
