import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Connections } from './connections.js';

/** Time between two attempts to close idle connections while the last requests run, in milliseconds. */
const SWEEP_MS = 50;
/**
 * How long idle connections stay open after the stop has begun, in milliseconds. A request that arrives in this time is
 * answered.
 */
const LAST_REQUEST_MS = 300;

/**
 * Stops accepting connections and waits until the requests in flight are answered, at most `timeoutMs`; then closes all
 * connections that are left, but upgraded ones. Event streams are ended. Resolves to whether everything was answered.
 */
export async function stopServing(
  server: Server,
  connections: Connections,
  timeoutMs: number,
): Promise<boolean> {
  if (!server.listening) return true;
  const closed = once(server, 'close').then(() => true);
  // The `close()` of `http.Server` would close idle connections at once, although a client may be sending its next request.
  NetServer.prototype.close.call(server);
  connections.drain();
  const idleFrom = performance.now() + Math.min(LAST_REQUEST_MS, timeoutMs);
  let sweep: NodeJS.Timeout | undefined;
  let timer: NodeJS.Timeout | undefined;
  // The server itself is closed only when its upgraded connections are, which belong to modules: they end with the application.
  const answered = new Promise<true>((resolve) => {
    sweep = setInterval(() => {
      connections.endEventStreams();
      if (performance.now() >= idleFrom) server.closeIdleConnections();
      if (connections.areClosed) resolve(true);
    }, SWEEP_MS);
  });
  const timedOut = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const finished = await Promise.race([closed, answered, timedOut]);
  if (!finished) server.closeAllConnections();
  clearInterval(sweep);
  clearTimeout(timer);
  return finished;
}
