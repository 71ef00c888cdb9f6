import type { ServerResponse } from 'node:http';

/**
 * Ends a response once all requests that have arrived are handled, so that a client on the same machine is woken once for all responses.
 */
export function deferEnd(response: ServerResponse, body?: string): void {
  response.writeHead(response.statusCode);
  setImmediate(end, response, body);
}

function end(response: ServerResponse, body: string | undefined): void {
  response.end(body);
}
