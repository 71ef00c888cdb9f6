import type { ServerResponse } from 'node:http';

/** Whether a response is an open stream of server-sent events. */
export function isEventStream(response: ServerResponse): boolean {
  if (!response.headersSent || response.writableEnded) return false;
  return String(response.getHeader('Content-Type') ?? '').startsWith('text/event-stream');
}

/** Ends an event stream, after a last event if one is given, as if it had no more; clients connect again. */
export function endEventStream(response: ServerResponse, last = ''): void {
  response.end(last);
  // The source of the events hears of the end when the connection is closed. What it writes until then is dropped: writing to
  // a response that has ended is an error.
  response.write = () => false;
}
