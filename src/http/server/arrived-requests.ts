import type { RequestListener } from 'node:http';
import { endDeferred } from '../../core/deferred-end.js';
import { TurnBatch, nextTick } from '../../core/turn.js';

/** How often a request that needs no query waits for a tick before it has its response: once, and once before and after that. */
const ROUNDS = 3;

/**
 * Handles the requests that have arrived in a turn of the event loop together: each step of the chain, such as a guard, runs for all of them
 * before the next step does. Those that need no query also end together in this turn. All that have arrived are handled, because a queue
 * would hide an overload, which is detected by the length of a turn.
 */
export function handleTogether(handle: RequestListener): RequestListener {
  const arrived = new TurnBatch(handle, () => void endTogether());
  return (request, response) => arrived.add(request, response);
}

async function endTogether(): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) await nextTick();
  endDeferred();
}
