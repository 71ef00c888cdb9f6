import cluster from 'node:cluster';
import type { MetricsSnapshot } from '../../../core/metrics/metrics.js';

/** What the parent tells a worker (WEB_CONCURRENCY). */
export type ToWorker = { readonly petstore: 'stop' } | { readonly petstore: 'metrics'; readonly ask: number };

/**
 * What a worker tells the parent: that it hears, that it serves, that it stops, why it cannot start, what it has counted so far, or the metrics that
 * were asked for.
 */
export type FromWorker =
  | { readonly petstore: 'hears' | 'running' | 'stops' }
  | { readonly petstore: 'failed'; readonly reason: string }
  | { readonly petstore: 'counts'; readonly metrics: MetricsSnapshot }
  | { readonly petstore: 'metrics'; readonly ask: number; readonly metrics: MetricsSnapshot };

/** Whether a message is one from the parent; modules and Node send their own. */
export function isToWorker(message: unknown): message is ToWorker {
  return isOurs(message);
}

/** Whether a message is one from a worker. */
export function isFromWorker(message: unknown): message is FromWorker {
  return isOurs(message);
}

/** Tells the parent; answers whether the message could be sent: there may be no parent, or none any more. */
export function tellParent(message: FromWorker): Promise<boolean> {
  if (!cluster.isWorker || !process.connected) return Promise.resolve(false);
  return new Promise((resolve) => {
    process.send?.(message, undefined, undefined, (error) => resolve(error === null));
  });
}

function isOurs(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'petstore' in message;
}
