import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Connections } from './connections.js';

/** Time between two attempts to close idle connections while the last requests run, in milliseconds. */
const SWEEP_MS = 50;
/** How long idle and new connections stay open after the stop has begun, in milliseconds; a request on them is still served. */
const IDLE_GRACE_MS = 300;
/** How many connections may wait to be accepted: what Node asks the operating system for. */
const BACKLOG = 511;

/**
 * Stops accepting connections and waits for the responses to requests in flight, at most `timeoutMs`; then closes all
 * remaining connections except upgraded ones. Event streams are ended. Resolves to whether all requests got a response.
 */
export async function stopServing(
  server: Server,
  connections: Connections,
  timeoutMs: number,
): Promise<boolean> {
  if (!server.listening) return true;
  const until = performance.now() + timeoutMs;
  connections.drain();
  await acceptArrived(server, timeoutMs / 2);
  // The `close()` of `http.Server` would close idle connections at once, although a client may be sending its next request.
  NetServer.prototype.close.call(server);
  const idleFrom = performance.now() + Math.min(IDLE_GRACE_MS, timeoutMs);
  // The server itself is closed only when its upgraded connections are, which belong to modules: they end with the application.
  while (!connections.areClosed) {
    const now = performance.now();
    if (now >= until) {
      server.closeAllConnections();
      return false;
    }
    connections.endEventStreams();
    if (now >= idleFrom) await connections.closeIdle();
    await setTimeout(Math.max(0, Math.min(SWEEP_MS, until - performance.now())));
  }
  return true;
}

/**
 * Accepts the connections that wait, for so many milliseconds at most: the operating system resets them when it stops listening. Node
 * accepts one in each turn of the event loop. While others keep coming, as many are accepted as may have waited.
 */
async function acceptArrived(server: Server, timeoutMs: number): Promise<void> {
  const until = performance.now() + timeoutMs;
  const accepted = { connections: 0 };
  const count = (): void => void (accepted.connections += 1);
  server.on('connection', count);
  let before: number;
  do {
    before = accepted.connections;
    // Between two of them there is a whole turn.
    await setImmediate();
    await setImmediate();
  } while (accepted.connections > before && accepted.connections < BACKLOG && performance.now() < until);
  server.off('connection', count);
}
