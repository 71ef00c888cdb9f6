import { ConnectionError, TimeoutError } from './errors.js';
import { type Abortable, type Chances, type Fetch, type FetchedResponse, platform } from './platform.js';

/** What one attempt sends. */
export interface AttemptRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

/** What came back: the response with its text. */
export interface Attempted {
  readonly response: FetchedResponse;
  readonly text: string;
}

/** What an attempt needs beside the request. */
export interface AttemptOptions {
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly signal: Abortable | undefined;
  readonly chances: Chances;
}

/**
 * Sends a request once and reads its answer to the end. Rejects with a ConnectionError or TimeoutError when no whole answer comes, with
 * the reason of the signal as soon as it aborts. Nothing is left behind: no timer, no listener.
 */
export async function attempt(request: AttemptRequest, options: AttemptOptions): Promise<Attempted> {
  const { fetch, timeoutMs, signal, chances } = options;
  const controller = new platform.AbortController();
  let end: (reason: unknown) => void = () => undefined;
  const ended = new Promise<never>((_, reject) => {
    end = (reason) => {
      // Rejected first: what fetch then rejects with is no longer looked at.
      reject(reason);
      controller.abort(reason);
    };
  });
  const stopTimer = chances.after(timeoutMs, () =>
    end(new TimeoutError(`No answer to ${request.method} ${pathOf(request)} within ${timeoutMs} ms.`)),
  );
  const stopListening = onAbort(signal, end);
  try {
    return await Promise.race([ended, exchange(request, fetch, controller.signal)]);
  } finally {
    stopTimer();
    stopListening();
  }
}

async function exchange(request: AttemptRequest, fetch: Fetch, signal: unknown): Promise<Attempted> {
  const { url, method, headers, body } = request;
  try {
    // Redirections are not followed: the key is for one address.
    const init = { method, headers, redirect: 'manual', signal } as const;
    const response = await fetch(url, body === undefined ? init : { ...init, body });
    return { response, text: await response.text() };
  } catch (cause) {
    throw new ConnectionError(`No answer to ${method} ${pathOf(request)}.`, { cause });
  }
}

/** The path alone: a query may hold what nobody else should read in a log. */
function pathOf({ url }: AttemptRequest): string {
  return new platform.URL(url).pathname;
}

/** Calls back with the reason once a signal aborts, at once if it has; answers what stops listening. */
export function onAbort(signal: Abortable | undefined, run: (reason: unknown) => void): () => void {
  if (!signal) return () => undefined;
  const stopListening = () => signal.removeEventListener('abort', listener);
  const listener = () => {
    stopListening();
    run(signal.reason);
  };
  if (signal.aborted) run(signal.reason);
  else signal.addEventListener('abort', listener);
  return stopListening;
}

/** Throws the reason of a signal that has aborted. */
export function throwIfAborted(signal: Abortable | undefined): void {
  if (signal?.aborted) throw signal.reason;
}

/** Waits so many milliseconds; rejects with the reason of the signal as soon as it aborts. */
export function wait(ms: number, signal: Abortable | undefined, chances: Chances): Promise<void> {
  return new Promise((resolve, reject) => {
    let stopTimer: () => void = () => undefined;
    const stopListening = onAbort(signal, (reason) => {
      stopTimer();
      reject(reason);
    });
    if (signal?.aborted) return;
    stopTimer = chances.after(ms, () => {
      stopListening();
      resolve();
    });
  });
}
