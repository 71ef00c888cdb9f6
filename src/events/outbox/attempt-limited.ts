/** Longest time that a listener may take for one event, in milliseconds. */
export const LONGEST_ATTEMPT_MS = 60_000;

/**
 * Does work with a signal that aborts with the given one, and after the longest time; throws why as soon as it aborts, even if
 * the work goes on regardless.
 */
export async function attemptLimited(
  signal: AbortSignal,
  work: (limited: AbortSignal) => unknown,
  longestMs = LONGEST_ATTEMPT_MS,
): Promise<void> {
  const limit = new AbortController();
  const late = new Error(`It took longer than ${longestMs / 1_000} s.`);
  const timer = setTimeout(() => limit.abort(late), longestMs);
  const pass = (): void => limit.abort(signal.reason);
  signal.addEventListener('abort', pass);
  try {
    await new Promise<void>((resolve, reject) => {
      limit.signal.addEventListener('abort', () => reject(limit.signal.reason as Error));
      // A listener need not be asynchronous; what it throws is the same either way.
      Promise.resolve(limit.signal)
        .then(work)
        .then(() => resolve(), reject);
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', pass);
  }
}
