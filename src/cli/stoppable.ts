import { type Progress, ProgressLine } from './progress.js';

/** Signals that stop long work, which then leaves nothing half-made. */
const STOPS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs long work that shows how far it is, on standard error by `tell`, and ends by itself at a signal. */
export async function stoppable<T>(
  tell: (text: string) => void,
  work: (how: { readonly signal: AbortSignal; readonly tell: (made: Progress) => void }) => Promise<T>,
): Promise<T> {
  const progress = new ProgressLine(tell);
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  // Once: a second signal ends the process at once; a copy leaves nothing then, and the next backup removes what is left.
  for (const signal of STOPS) process.once(signal, abort);
  try {
    return await work({ signal: stop.signal, tell: (made) => progress.show(made) });
  } finally {
    progress.end();
    for (const signal of STOPS) process.off(signal, abort);
  }
}
