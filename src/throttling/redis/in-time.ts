/** An answer that did not come in time. */
export class TooLateError extends Error {
  constructor(limitMs: number) {
    super(`no answer within ${limitMs} ms`);
  }
}

/**
 * What a promise answers, if it does so within `limitMs` milliseconds; else rejects with TooLateError.
 *
 * Timers run before sockets are read: when this process was busy for longer than the limit, the answer may lie in the
 * socket unread. Immediates run after the sockets, so that only what is not there by then is late.
 */
export function inTime<T>(answer: Promise<T>, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      setImmediate(() => reject(new TooLateError(limitMs)));
    }, limitMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
