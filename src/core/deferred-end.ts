import type { ServerResponse } from 'node:http';
import { TurnBatch } from './turn.js';

const ends = new TurnBatch((response: ServerResponse, text: string | undefined) => void response.end(text));

/**
 * Ends a response, with the length of its text, once all requests that have arrived are handled, so that a client on the same machine is
 * woken once for all responses.
 */
export function deferEnd(response: ServerResponse, text?: string): void {
  if (text !== undefined) response.setHeader('Content-Length', Buffer.byteLength(text));
  response.writeHead(response.statusCode);
  ends.add(response, text);
}

/** Ends the deferred responses now. */
export function endDeferred(): void {
  ends.run();
}
