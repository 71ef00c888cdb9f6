import type { ServerResponse } from 'node:http';

/** Whether a response is an open stream of server-sent events. */
export function isEventStream(response: ServerResponse): boolean {
  if (!response.headersSent || response.writableEnded) return false;
  return String(response.getHeader('Content-Type') ?? '').startsWith('text/event-stream');
}

/** Ends an event stream, after a last event if given, as if it were complete; clients reconnect. */
export function endEventStream(response: ServerResponse, last = ''): void {
  response.end(last);
  // The source of events finds out only when the connection is closed. Until then its writes are dropped, because writing to an ended
  // response is an error.
  response.write = () => false;
}
