import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { endDeferred } from '../../core/deferred-end.js';
import { TurnBatch, nextTick } from '../../core/turn.js';

/** Maximum number of requests handled in one turn of the event loop, so that timers and other sockets do not wait for a flood of requests. */
const MAX_PER_TURN = 128;
/** How often a request that needs no query waits for a tick before it has its response: once, and once before and after that. */
const ROUNDS = 3;

/**
 * Handles the requests that have arrived in a turn of the event loop together: each step of the chain, such as a guard, runs for all of them
 * before the next step does. Those that need no query also end together in this turn.
 */
export function handleTogether(handle: RequestListener): RequestListener {
  const arrived = new TurnBatch(
    (request: IncomingMessage, response: ServerResponse) => {
      // If the client is already gone, no event would report the end of the request.
      if (!response.closed) handle(request, response);
    },
    MAX_PER_TURN,
    () => void endTogether(),
  );
  return (request, response) => arrived.add(request, response);
}

async function endTogether(): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) await nextTick();
  endDeferred();
}
