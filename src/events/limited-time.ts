/** Work that was given up because its time was over. */
export class TookTooLong extends Error {
  constructor(ms: number) {
    super(`It took longer than ${ms / 1_000} s.`);
  }
}

/**
 * Does work with a signal that aborts with the given one, and after this time; rejects with its reason as soon as it aborts, even if
 * the work continues regardless. Not AbortSignal.any(): Node 20 keeps in a signal that lives long all that were made of it.
 */
export async function withinTime<T>(
  longestMs: number,
  signal: AbortSignal,
  work: (limited: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new TookTooLong(longestMs)), longestMs);
  const pass = (): void => limit.abort(signal.reason);
  signal.addEventListener('abort', pass);
  if (signal.aborted) pass();
  try {
    return await new Promise<T>((resolve, reject) => {
      limit.signal.addEventListener('abort', () => reject(limit.signal.reason as Error));
      limit.signal.throwIfAborted();
      // Work need not be asynchronous; what it throws is the same either way.
      Promise.resolve(limit.signal).then(work).then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', pass);
  }
}
