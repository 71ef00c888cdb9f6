import cluster from 'node:cluster';
import type { INestApplication } from '@nestjs/common';
import { Metrics } from '../../../core/metrics/metrics.js';
import { isToWorker, tellParent } from './worker-messages.js';

/** How often a worker tells what it has counted, in milliseconds. */
const COUNTS_MS = 1_000;

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
    if (!isToWorker(message) || message.petstore !== 'stop') return;
    void tellParent({ petstore: 'stops' });
    stop('The parent stops');
  });
  process.once('disconnect', () => stop('The parent is gone'));
  void tellParent({ petstore: 'hears' });
}

/**
 * Tells the parent that this process serves, from now on its metrics when it asks, and every second what it has counted: when this
 * process is killed, no more than that second is lost. Does nothing without a parent.
 */
export function servesForParent(app: INestApplication): void {
  if (!cluster.isWorker) return;
  const metrics = app.get(Metrics);
  process.on('message', (message) => {
    if (!isToWorker(message) || message.petstore !== 'metrics') return;
    const { ask } = message;
    void metrics.snapshot().then((told) => tellParent({ petstore: 'metrics', ask, metrics: told }));
  });
  let isTelling = false;
  const tellCounts = async (): Promise<void> => {
    // A parent that does not read must not fill the memory of this process.
    if (isTelling) return;
    isTelling = true;
    await tellParent({ petstore: 'counts', metrics: await metrics.counts() });
    isTelling = false;
  };
  setInterval(() => void tellCounts(), COUNTS_MS).unref();
  void tellParent({ petstore: 'running' });
}
