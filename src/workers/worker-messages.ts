import type { MetricsSnapshot } from '../metrics/metrics.js';

/** What the parent tells a worker (WEB_CONCURRENCY). */
export type ToWorker = { readonly petstore: 'stop' } | { readonly petstore: 'metrics'; readonly ask: number };

/** What a worker tells the parent: that it hears, that it serves, or the metrics that were asked for. */
export type FromWorker =
  | { readonly petstore: 'hears' | 'running' }
  | { readonly petstore: 'metrics'; readonly ask: number; readonly metrics: MetricsSnapshot };

/** Whether a message is one from the parent; modules and Node send their own. */
export function isToWorker(message: unknown): message is ToWorker {
  return isOurs(message);
}

/** Whether a message is one from a worker. */
export function isFromWorker(message: unknown): message is FromWorker {
  return isOurs(message);
}

function isOurs(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'petstore' in message;
}
