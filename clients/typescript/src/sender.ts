import { ConnectionError, PetstoreError, TimeoutError, UnexpectedResponseError } from './errors.js';
import type { Operation } from './operation.js';
import type { CheckedOptions } from './options.js';
import { type Quota, errorOf, quotaOf, refusalOf } from './responses.js';

/** The maximum of a timer, in milliseconds; a longer one would fire immediately. */
const LONGEST_TIMER_MS = 2_147_483_647;
/** Statuses after which it is unknown whether the request was carried out. */
const UNKNOWN_OUTCOME: ReadonlySet<number> = new Set([408, 500, 502, 503, 504]);

/** Sends requests, and retries them as often as the service and the options allow. */
export class Sender {
  /** The quota according to the last response. */
  quota: Quota | undefined;
  /** The 429 that delays further requests, by limit and key, because the service bans a key that continues to send requests after a 429. */
  readonly #rateLimits = new Map<string, { readonly until: number; readonly refusal: PetstoreError }>();

  constructor(private readonly options: CheckedOptions) {}

  /** Rejects with the last error if the request must not be retried, or cannot be retried in time. */
  async send(request: Request, operation: Operation, signal: AbortSignal | undefined): Promise<Response> {
    const { retries, budgetMs, timeoutMs } = this.options;
    const latest = performance.now() + budgetMs;
    // Without the query, which may contain data that must not appear in logs.
    const description = `${request.method} ${new URL(request.url).pathname}`;
    const late = () => new TimeoutError(`No response to ${description} within ${timeoutMs} ms.`);
    // Every attempt sends the same bytes.
    const body = (await request.text()) || undefined;
    const isSafe = operation.isIdempotent === true || ['GET', 'HEAD'].includes(request.method);
    for (let retry = 0; ; retry += 1) {
      try {
        return await within(timeoutMs, signal, late, (ended) =>
          this.#attempt(request, body, operation, description, ended),
        );
      } catch (error) {
        if (signal?.aborted || retry === retries || !mayRetry(error, isSafe)) throw error;
        const { retryAfterMs } = error as { retryAfterMs?: number };
        const backOffMs = Math.min(30_000, 1_000 * 2 ** retry);
        const ms = (retryAfterMs ?? 0) + Math.random() * (retryAfterMs === undefined ? backOffMs : 1_000);
        if (performance.now() + ms > latest) throw error;
        await within(ms, signal, () => undefined);
      }
    }
  }

  /** Sends a request once and reads its response to the end. */
  async #attempt(
    { url, method, headers: requestHeaders }: Request,
    body: string | undefined,
    { limits }: Operation,
    description: string,
    signal: AbortSignal,
  ): Promise<Response> {
    const apiKey = await this.options.apiKey();
    this.#throwIfRateLimited(limits.map((limit) => `${limit} ${apiKey}`));
    let response: Response;
    let text: string;
    try {
      const headers = { ...Object.fromEntries(requestHeaders), authorization: `Bearer ${apiKey}` };
      // Redirects are not followed, because the key is meant for one server.
      const init: RequestInit = { method, headers, redirect: 'manual', signal };
      response = await this.options.fetch(url, body === undefined ? init : { ...init, body });
      text = (await response.text()).replaceAll(apiKey, '…');
    } catch (cause) {
      throw new ConnectionError(`No response to ${description}.`, { cause });
    }
    // The headers of a 429 for a separate limit describe that limit, not the quota.
    if (response.status !== 429 || limits[0] === 'quota')
      this.quota = quotaOf(response.headers) ?? this.quota;
    if (response.ok) return new Response(text || null, response);
    const error = errorOf(response, text, description, url);
    if (error instanceof PetstoreError && error.status === 429 && error.retryAfterMs !== undefined) {
      const limit = `${error.code === 'api_key_banned' ? 'ban' : limits[0]} ${apiKey}`;
      const until = performance.now() + error.retryAfterMs;
      if (until > (this.#rateLimits.get(limit)?.until ?? 0))
        this.#rateLimits.set(limit, { until, refusal: error });
    }
    throw error;
  }

  /** If a 429 for one of these limits is still in effect, throws it with the remaining wait. */
  #throwIfRateLimited(limits: readonly string[]): void {
    for (const limit of limits) {
      const active = this.#rateLimits.get(limit);
      const left = (active?.until ?? 0) - performance.now();
      if (active && left > 0) throw refusalOf({ ...active.refusal.toJSON(), retryAfterMs: left });
      this.#rateLimits.delete(limit);
    }
  }
}

/**
 * A request with a 429 was not carried out. If the outcome is unknown, only safe requests are retried: reads, and those with an
 * Idempotency-Key.
 */
function mayRetry(error: unknown, isSafe: boolean): boolean {
  if (error instanceof ConnectionError) return isSafe;
  if (!(error instanceof PetstoreError || error instanceof UnexpectedResponseError)) return false;
  if (error.status === 429) return true;
  const isRunning = error instanceof PetstoreError && error.code === 'idempotency_in_progress';
  return isSafe && (isRunning || UNKNOWN_OUTCOME.has(error.status));
}

/**
 * Settles like `work`, or when the time is up: it then rejects with the error that `late` returns, or resolves if that is undefined.
 * Rejects with the signal's reason as soon as it aborts. Leaves no timers or listeners behind.
 */
async function within<Value = void>(
  ms: number,
  signal: AbortSignal | undefined,
  late: () => Error | undefined,
  work: (ended: AbortSignal) => Promise<Value> = () => new Promise(() => undefined),
): Promise<Value> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  let [timer, stopListening]: [unknown, () => void] = [undefined, () => undefined];
  const ended = new Promise<never>((resolve, reject) => {
    if (signal) stopListening = onAbort(signal, () => reject(signal.reason));
    const end = () => (late() ? reject(late()) : resolve(undefined as never));
    timer = setTimeout(end, Math.min(ms, LONGEST_TIMER_MS));
  });
  try {
    return await Promise.race([ended, work(controller.signal)]);
  } finally {
    clearTimeout(timer as number);
    stopListening();
    controller.abort();
  }
}

/** The callbacks for a signal and their shared listener, because Node.js warns about more than ten listeners. */
const listening = new WeakMap<
  AbortSignal,
  { readonly calls: Set<() => void>; readonly listener: () => void }
>();

/** Calls a function when the signal aborts; returns a function that cancels this. */
function onAbort(signal: AbortSignal, call: () => void): () => void {
  let shared = listening.get(signal);
  if (!shared) {
    const calls = new Set<() => void>();
    shared = { calls, listener: () => calls.forEach((one) => one()) };
    listening.set(signal, shared);
    signal.addEventListener('abort', shared.listener);
  }
  const { calls, listener } = shared;
  calls.add(call);
  return () => {
    calls.delete(call);
    if (calls.size > 0) return;
    signal.removeEventListener('abort', listener);
    listening.delete(signal);
  };
}
