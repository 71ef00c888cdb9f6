import type { Int64Form } from './json.js';

/** How a client is made. */
export interface ClientOptions<Form extends Int64Form = 'bigint'> {
  /** Address of the service with its version, such as `https://api.example/petstore/v1`. */
  readonly baseUrl: string;
  /** The API key, or a function that returns it; it is called before each attempt, so that a rotated key is used. */
  readonly apiKey: string | (() => string | Promise<string>);
  /** The type of 64-bit integers; default `bigint`. Both are exact. */
  readonly int64?: Form | undefined;
  /** Limit of one attempt, including reading the response, in milliseconds; default 30,000. */
  readonly timeoutMs?: number | undefined;
  readonly retry?: RetryOptions | undefined;
  /** Sends requests; default the `fetch` of the platform. */
  readonly fetch?: typeof fetch | undefined;
}

/** When calls are retried. */
export interface RetryOptions {
  /** Number of retries; default 5. With 0 a call waits for nothing. */
  readonly retries?: number | undefined;
  /** No attempt begins later, in milliseconds after the call; default 60,000. The error of a longer wait has `retryAfterMs`. */
  readonly budgetMs?: number | undefined;
}

/** Options that are checked and complete. */
export type CheckedOptions = ReturnType<typeof checked>;

/** Throws a TypeError that names the wrong option, and never shows a key. */
export function checked(options: ClientOptions<Int64Form>) {
  const { apiKey, int64: form = 'bigint', timeoutMs = 30_000, retry = {} } = options;
  const { retries = 5, budgetMs = 60_000 } = retry;
  const send = options.fetch ?? globalThis.fetch;
  check(form === 'bigint' || form === 'string', "int64 must be 'bigint' or 'string'.");
  check(timeoutMs > 0, 'timeoutMs must be more than 0.');
  check(Number.isInteger(retries) && retries >= 0, 'retry.retries must be an integer from 0 on.');
  check(budgetMs >= 0, 'retry.budgetMs must be at least 0.');
  if (typeof apiKey !== 'function') usableKey(apiKey);
  return {
    /** The address before the version, such as `https://api.example/petstore`. */
    root: rootOf(options.baseUrl),
    apiKey: async () => usableKey(typeof apiKey === 'function' ? await apiKey() : apiKey),
    form,
    timeoutMs,
    retries,
    budgetMs,
    // A browser's fetch must be called on nothing.
    fetch: (url: string, init: RequestInit) => send(url, init),
  };
}

function check(isRight: boolean, rule: string): void {
  if (!isRight) throw new TypeError(rule);
}

/** What fetch says of another key would quote it. */
function usableKey(key: string): string {
  check(typeof key === 'string' && /^[!-~]+$/.test(key), 'apiKey must have visible ASCII characters only.');
  return key;
}

/** The error does not quote a wrong address, which may hold a password. */
function rootOf(baseUrl: string): string {
  const { protocol, username, password, search, hash, origin, pathname } = new URL(
    URL.canParse(baseUrl) ? baseUrl : 'none:',
  );
  const [, prefix] = /^(.*)\/v\d+\/?$/.exec(pathname) ?? [];
  if (/^https?:$/.test(protocol) && prefix !== undefined && !(username || password || search || hash))
    return origin + prefix;
  throw new TypeError(
    'baseUrl must be an http or https address that ends in the version, such as https://api.example/v1, without user, query and fragment.',
  );
}
