import { ProcessLockFiles } from '../sqlite/process-lock-files.js';

/** A command on a whole database cannot be carried out, and changed nothing; the message says why and what to do. */
export class DatabaseRefusal extends Error {}

/** Throws DatabaseRefusal while a process serves the file: it has counts in memory, and would continue writing. `then` is what waits for its end. */
export async function refuseServed(file: string, then: 'copy' | 'restore'): Promise<void> {
  const serving = await (await ProcessLockFiles.of(file)).others('left');
  if (serving === 0) return;
  const who = serving === 1 ? 'A process serves' : `${serving} processes serve`;
  throw new DatabaseRefusal(`${who} ${file}. Stop the service, then ${then}.`);
}
