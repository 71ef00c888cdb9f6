import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Connections } from './connections.js';

/** Interval between attempts to close idle connections while the last requests run, in milliseconds. */
const SWEEP_MS = 50;
/** How long idle and new connections stay open after shutdown has begun, in milliseconds. Requests on them are still served. */
const IDLE_GRACE_MS = 300;
/** Node's default backlog: how many connections may wait to be accepted. */
const BACKLOG = 511;

/**
 * Stops accepting connections and waits at most `timeoutMs` for the responses to requests in flight; then closes all remaining connections
 * except upgraded ones. Event streams are ended. Resolves to whether all requests got a response.
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
  // `close()` of `http.Server` would close idle connections immediately, although a client may be sending its next request.
  NetServer.prototype.close.call(server);
  const idleFrom = performance.now() + Math.min(IDLE_GRACE_MS, timeoutMs);
  // The server itself closes only when its upgraded connections do. These belong to modules and end with the application.
  while (!connections.areClosed) {
    const now = performance.now();
    if (now >= until) {
      server.closeAllConnections();
      return false;
    }
    connections.endEventStreams();
    if (now >= idleFrom) await connections.closeIdle(server);
    await setTimeout(Math.max(0, Math.min(SWEEP_MS, until - performance.now())));
  }
  return true;
}

/**
 * Accepts the waiting connections within the given milliseconds, because the operating system resets them when it stops listening. Node
 * accepts one per turn of the event loop. If more keep coming, accepts as many as may have been waiting.
 */
async function acceptArrived(server: Server, timeoutMs: number): Promise<void> {
  const until = performance.now() + timeoutMs;
  const accepted = { connections: 0 };
  const count = (): void => void (accepted.connections += 1);
  server.on('connection', count);
  let before: number;
  do {
    before = accepted.connections;
    // A whole turn of the event loop passes between two of them.
    await setImmediate();
    await setImmediate();
  } while (accepted.connections > before && accepted.connections < BACKLOG && performance.now() < until);
  server.off('connection', count);
}
