import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { endDeferred } from '../../core/deferred-end.js';
import { TurnBatch, nextTick } from '../../core/turn.js';

/** Maximum number of requests of which each step of the chain is run before the next step. */
const MAX_TOGETHER = 32;
/** How often a request that needs no query waits for a tick before it has its response: once, and once before and after that. */
const ROUNDS = 3;

type Arrived = TurnBatch<[IncomingMessage, ServerResponse]>;

/**
 * Handles the requests that have arrived in a turn of the event loop together: each step of the chain, such as a guard, runs for a group of
 * them before the next step does. Those that need no query also end together. All groups are handled in the turn, because a queue would hide
 * an overload, which shows in the length of turns. A group is admitted when the previous one has used its processor time.
 */
export function handleTogether(handle: RequestListener): RequestListener {
  const arrived: Arrived = new TurnBatch(handle, () => void handleAll(arrived));
  return (request, response) => arrived.add(request, response);
}

async function handleAll(arrived: Arrived): Promise<void> {
  while (arrived.run(MAX_TOGETHER) > 0) {
    for (let round = 0; round < ROUNDS; round += 1) await nextTick();
    endDeferred();
  }
}
