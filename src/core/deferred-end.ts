import type { ServerResponse } from 'node:http';
import { TurnBatch } from './turn.js';

const ends = new TurnBatch((response: ServerResponse, body: string | undefined) => void response.end(body));

/**
 * Ends a response once all requests that have arrived are handled, so that a client on the same machine is woken once for all responses.
 */
export function deferEnd(response: ServerResponse, body?: string): void {
  response.writeHead(response.statusCode);
  ends.add(response, body);
}

/** Ends the deferred responses now. */
export function endDeferred(): void {
  ends.run();
}
