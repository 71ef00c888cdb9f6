import { ConnectionError, PetstoreError, TimeoutError, UnexpectedResponseError } from './errors.js';
import type { Operation } from './operation.js';
import type { CheckedOptions } from './options.js';
import { type Quota, errorOf, quotaOf, refusalOf } from './responses.js';

/** A longer timer would end at once. */
const LONGEST_TIMER_MS = 2_147_483_647;
/** Statuses after which it is unknown whether the request was carried out. */
const UNKNOWN_OUTCOME: ReadonlySet<number> = new Set([408, 500, 502, 503, 504]);

/** Sends requests until they succeed, as often as the service and the options allow. */
export class Sender {
  /** The quota by the last response. */
  quota: Quota | undefined;
  /** By limit and key, the 429 that holds requests back: the service bans a key that continues after one. */
  readonly #holds = new Map<string, { readonly until: number; readonly refusal: PetstoreError }>();

  constructor(private readonly options: CheckedOptions) {}

  /** Rejects with the last error when the request may not be retried, or not in time. */
  async send(request: Request, operation: Operation, signal: AbortSignal | undefined): Promise<Response> {
    const { retries, budgetMs, timeoutMs } = this.options;
    const latest = performance.now() + budgetMs;
    // The path alone: a query may hold what nobody else should read in a log.
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
    { bounds }: Operation,
    description: string,
    signal: AbortSignal,
  ): Promise<Response> {
    const apiKey = await this.options.apiKey();
    this.#throwIfHeldBack(bounds.map((bound) => `${bound} ${apiKey}`));
    let response: Response;
    let text: string;
    try {
      const headers = { ...Object.fromEntries(requestHeaders), authorization: `Bearer ${apiKey}` };
      // Redirects are not followed: the key is for one address.
      const init: RequestInit = { method, headers, redirect: 'manual', signal };
      response = await this.options.fetch(url, body === undefined ? init : { ...init, body });
      text = (await response.text()).replaceAll(apiKey, '…');
    } catch (cause) {
      throw new ConnectionError(`No response to ${description}.`, { cause });
    }
    // A 429 of a separate limit shows that limit.
    if (response.status !== 429 || bounds[0] === 'quota')
      this.quota = quotaOf(response.headers) ?? this.quota;
    if (response.ok) return new Response(text || null, response);
    const error = errorOf(response, text, description, url);
    if (error instanceof PetstoreError && error.status === 429 && error.retryAfterMs !== undefined) {
      const held = `${error.code === 'api_key_banned' ? 'ban' : bounds[0]} ${apiKey}`;
      const until = performance.now() + error.retryAfterMs;
      if (until > (this.#holds.get(held)?.until ?? 0)) this.#holds.set(held, { until, refusal: error });
    }
    throw error;
  }

  /** Throws the last 429 for one of the limits, with what is left of its wait. */
  #throwIfHeldBack(bounds: readonly string[]): void {
    for (const bound of bounds) {
      const hold = this.#holds.get(bound);
      const left = (hold?.until ?? 0) - performance.now();
      if (hold && left > 0) throw refusalOf({ ...hold.refusal.toJSON(), retryAfterMs: left });
      this.#holds.delete(bound);
    }
  }
}

/** A 429 was not carried out. Where that is unknown, only what is safe is repeated: a read, or what has an Idempotency-Key. */
function mayRetry(error: unknown, isSafe: boolean): boolean {
  if (error instanceof ConnectionError) return isSafe;
  if (!(error instanceof PetstoreError || error instanceof UnexpectedResponseError)) return false;
  if (error.status === 429) return true;
  const isRunning = error instanceof PetstoreError && error.code === 'idempotency_in_progress';
  return isSafe && (isRunning || UNKNOWN_OUTCOME.has(error.status));
}

/**
 * What `work` comes to. After so many milliseconds it rejects with the error that `late` makes, or resolves if it makes none; it rejects
 * with the reason of the signal as soon as that aborts. No timer and no listener is left behind.
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

/** The calls that listen to a signal, and the one listener of all of them: Node.js warns of more than ten. */
const listening = new WeakMap<
  AbortSignal,
  { readonly calls: Set<() => void>; readonly listener: () => void }
>();

/** Calls a function when the signal aborts; returns how to stop that. */
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
