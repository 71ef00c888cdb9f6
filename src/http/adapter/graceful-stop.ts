import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Connections } from './connections.js';

/** How often connections that have become idle are closed while the last requests run, in milliseconds. */
const SWEEP_MS = 50;
/** How long a connection that is kept may still bring a request, which is answered, in milliseconds. */
const LAST_REQUEST_MS = 300;

/**
 * Stops accepting connections and waits until the requests in flight are answered, at most `timeoutMs`; then
 * cuts what is left. Answers whether everything was answered.
 */
export async function stopServing(
  server: Server,
  connections: Connections,
  timeoutMs: number,
): Promise<boolean> {
  if (!server.listening) return true;
  const closed = once(server, 'close').then(() => true);
  // Not http's own close(): that closes connections whose client may be sending its next request just now.
  NetServer.prototype.close.call(server);
  connections.drain();
  const idleFrom = performance.now() + Math.min(LAST_REQUEST_MS, timeoutMs);
  const sweep = setInterval(() => {
    if (performance.now() >= idleFrom) server.closeIdleConnections();
  }, SWEEP_MS);
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const finished = await Promise.race([closed, timedOut]);
  if (!finished) server.closeAllConnections();
  clearInterval(sweep);
  clearTimeout(timer);
  return finished;
}
