import type { ServerResponse } from 'node:http';

/**
 * Ends a response when all requests are handled whose bytes had arrived by now: those of one turn of the event loop are then sent in
 * a row. A client or proxy on the same machine wakes up once for them, not once for each; waking it is part of the sender's system
 * call. Its head is made at once, so that the response counts as sent for whoever asks it.
 */
export function endTogether(response: ServerResponse, body?: string): void {
  response.writeHead(response.statusCode);
  setImmediate(end, response, body);
}

function end(response: ServerResponse, body: string | undefined): void {
  response.end(body);
}
