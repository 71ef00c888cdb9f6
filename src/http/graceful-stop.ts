import { once } from 'node:events';
import type { Server } from 'node:http';

/** How often connections that have become idle are closed while the last requests run, in milliseconds. */
const SWEEP_MS = 50;

/**
 * Stops accepting connections and waits until the requests in flight are answered, at most `timeoutMs`; then
 * cuts what is left. Answers whether everything was answered.
 */
export async function stopServing(server: Server, timeoutMs: number): Promise<boolean> {
  if (!server.listening) return true;
  const closed = once(server, 'close').then(() => true);
  server.close();
  // Node keeps idle keep-alive connections open after close(); each would hold the stop for seconds.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
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
