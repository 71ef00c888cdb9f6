import type { ServerResponse } from 'node:http';

/** Whether a response is a stream of server-sent events that has begun and has no end of its own. */
export function isEventStream(response: ServerResponse): boolean {
  if (!response.headersSent || response.writableEnded) return false;
  return String(response.getHeader('Content-Type') ?? '').startsWith('text/event-stream');
}

/**
 * Sends a comment, which clients ignore. Proxies and the client then know that the connection lives, and a client that is gone
 * without a word is noticed, because it does not read the comment.
 */
export function sendComment(response: ServerResponse): void {
  response.write(':\n\n');
}

/** Ends an event stream as if it had no more events; clients connect again, then to another instance. */
export function endEventStream(response: ServerResponse): void {
  response.end();
  // The source of the events hears of the end when the connection is closed. What it writes until then is dropped: writing to
  // a response that has ended is an error.
  response.write = () => false;
}
