/** Thrown when work was abandoned because its time was up. */
export class TimeoutError extends Error {
  constructor(ms: number) {
    super(`It took longer than ${ms / 1_000} s.`);
  }
}

/**
 * Runs work with a signal that aborts with the given one or after a timeout, and rejects as soon as it aborts, even if the work continues.
 * AbortSignal.any() is not used, because on Node 20, a long-lived signal retains all signals derived from it.
 */
export async function withTimeout<T>(
  timeoutMs: number,
  signal: AbortSignal,
  work: (limited: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new TimeoutError(timeoutMs)), timeoutMs);
  const pass = (): void => limit.abort(signal.reason);
  signal.addEventListener('abort', pass);
  if (signal.aborted) pass();
  try {
    return await new Promise<T>((resolve, reject) => {
      limit.signal.addEventListener('abort', () => reject(limit.signal.reason as Error));
      limit.signal.throwIfAborted();
      // Inside then(), because work may be synchronous and throw.
      Promise.resolve(limit.signal).then(work).then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', pass);
  }
}
