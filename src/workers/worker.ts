import cluster from 'node:cluster';
import type { INestApplication } from '@nestjs/common';
import { Metrics } from '../metrics/metrics.js';
import { type FromWorker, isToWorker } from './worker-messages.js';

/**
 * Has this process stop when its parent says so, or is gone; does nothing in a process that is no worker. A signal to the whole
 * group, such as Ctrl-C, reaches the worker too: `stop` must bear to be called twice.
 */
export function stopWithParent(stop: (reason: string) => void): void {
  const { worker } = cluster;
  if (!worker) return;
  // Otherwise Node would end the process at once when its parent is gone, with the requests in flight.
  worker.exitedAfterDisconnect = true;
  process.on('message', (message) => {
    if (isToWorker(message) && message.petstore === 'stop') stop('The parent stops');
  });
  process.once('disconnect', () => stop('The parent is gone'));
  tell({ petstore: 'hears' });
}

/** Tells the parent that this process serves, and from now on its metrics when it asks; does nothing without a parent. */
export function servesForParent(app: INestApplication): void {
  if (!cluster.isWorker) return;
  process.on('message', (message) => {
    if (!isToWorker(message) || message.petstore !== 'metrics') return;
    const { ask } = message;
    void app
      .get(Metrics)
      .snapshot()
      .then((metrics) => tell({ petstore: 'metrics', ask, metrics }));
  });
  tell({ petstore: 'running' });
}

function tell(message: FromWorker): void {
  // The parent may be gone meanwhile.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
