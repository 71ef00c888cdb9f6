import { Refusal } from '../../core/refusal.js';
import { ProcessLockFiles } from '../sqlite/process-lock-files.js';

/** Throws Refusal while a process serves the file: it has counts in memory, and would continue writing. `then` is what waits for its end. */
export async function refuseServed(file: string, then: 'copy' | 'restore'): Promise<void> {
  const serving = await (await ProcessLockFiles.of(file)).others('left');
  if (serving === 0) return;
  const who = serving === 1 ? 'A process serves' : `${serving} processes serve`;
  throw new Refusal(`${who} ${file}. Stop the service, then ${then}.`);
}
