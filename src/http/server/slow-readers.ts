import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isEventStream } from '../../core/event-stream.js';

/**
 * After how long without an event an event stream gets a comment, in milliseconds, as the HTML standard advises (9.2.7): before the proxies
 * of deploy/ decide that an instance hangs (proxy_read_timeout).
 */
const MAX_QUIET_MS = 8_000;

/** The state of a response, and since when. */
export interface Reading {
  readonly response: ServerResponse;
  /** The client reads more of a stream, or a complete response to its end, or the service sends the next event of an event stream. */
  readonly awaits: 'progress' | 'end' | 'event';
  /** A value of `performance.now()`. */
  readonly since: number;
  /** How many bytes had left the socket's send buffer at `since`; other than that while the system takes a piece of them. */
  readonly read: number;
}

/**
 * Checks the response in progress of one connection; to be called every second with what the previous call returned. Closes the
 * connection if the client has not read a complete response within `limitMs` milliseconds, or no more of a stream within that time.
 * Keeps a quiet event stream from being taken for dead. Node has no timeout for this. `now` is a value of `performance.now()`.
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
  // Of a large piece, the length in the buffer stays until the system has taken it whole; only the handle knows what is left of it.
  const { writeQueueSize = 0 } = (socket as { _handle?: { writeQueueSize?: number } | null })._handle ?? {};
  const read = socket.bytesWritten - socket.writableLength - writeQueueSize;
  const isSame = last?.response === response && last.awaits === awaits;
  if (!isSame || (awaits !== 'end' && last.read !== read)) return { response, awaits, since: now, read };
  if (awaits === 'event') {
    // Clients ignore a comment. Proxies then know that the connection lives, and a client that is gone is noticed.
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
