import cluster from 'node:cluster';
import { SettingsError } from '../../core/config/define-settings.js';
import { type Settings, loadSettings } from '../../core/config/settings.js';
import { importing } from '../../core/import-failure.js';
import type { Stop } from './start.js';
import { stopWithParent } from './workers/worker.js';

/**
 * Starts the service in this process, or with WEB_CONCURRENCY in several of which this is the parent. Calls `running` when a
 * signal is to stop it gracefully from now on. Throws when it cannot start.
 */
export async function start(running: (stop: Stop) => void): Promise<void> {
  const settings = cluster.isWorker ? undefined : platformSettings();
  if (settings && settings.webConcurrency > 1) {
    const { Parent, obstacleOf } = await import('./workers/parent.js');
    const obstacle = obstacleOf(settings);
    if (obstacle !== undefined) throw new Error(obstacle);
    const parent = new Parent(settings);
    running(parent.stop);
    await parent.start();
    return;
  }
  let stop: Stop = () => process.exit(0);
  stopWithParent((reason) => stop(reason));
  const service = await importing(() => import('./start.js'));
  await service.start((whenRunning) => {
    stop = whenRunning;
    running(whenRunning);
  });
}

/** The settings, as far as the platform's tell; undefined when they are wrong: the start itself then tells all that are. */
function platformSettings(): Settings | undefined {
  try {
    return loadSettings();
  } catch (error) {
    if (error instanceof SettingsError) return undefined;
    throw error;
  }
}
