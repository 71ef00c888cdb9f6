import type { Int64Form } from './json.js';

/** Options of a client. */
export interface ClientOptions<Form extends Int64Form = 'bigint'> {
  /** URL of the service with its version, such as `https://api.example/petstore/v1`. */
  readonly baseUrl: string;
  /** The API key, or a function that returns it; it is called before each attempt, so that a rotated key is used. */
  readonly apiKey: string | (() => string | Promise<string>);
  /** The type of 64-bit integers; default `bigint`. Both are exact. */
  readonly int64?: Form | undefined;
  /** Time limit for one attempt, including reading the response, in milliseconds; default 30,000. */
  readonly timeoutMs?: number | undefined;
  readonly retry?: RetryOptions | undefined;
  /** The function that sends requests; default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** When calls are retried. */
export interface RetryOptions {
  /** Maximum number of retries; default 5. With 0, a call never waits. */
  readonly retries?: number | undefined;
  /**
   * The latest start of an attempt, in milliseconds after the call; default 60,000. If the wait would be longer, the call rejects with an
   * error that has `retryAfterMs`.
   */
  readonly budgetMs?: number | undefined;
}

/** Validated options with all defaults. */
export type CheckedOptions = ReturnType<typeof checked>;

/** Throws a TypeError that names the invalid option and never contains a key. */
export function checked(options: ClientOptions<Int64Form>) {
  const { apiKey, int64: form = 'bigint', timeoutMs = 30_000, retry = {} } = options;
  const { retries = 5, budgetMs = 60_000 } = retry;
  const send = options.fetch ?? globalThis.fetch;
  check(form === 'bigint' || form === 'string', "int64 must be 'bigint' or 'string'.");
  check(timeoutMs > 0, 'timeoutMs must be more than 0.');
  check(Number.isInteger(retries) && retries >= 0, 'retry.retries must be an integer of at least 0.');
  check(budgetMs >= 0, 'retry.budgetMs must be at least 0.');
  if (typeof apiKey !== 'function') usableKey(apiKey);
  return {
    /** The URL before the version, such as `https://api.example/petstore`. */
    root: rootOf(options.baseUrl),
    apiKey: async () => usableKey(typeof apiKey === 'function' ? await apiKey() : apiKey),
    form,
    timeoutMs,
    retries,
    budgetMs,
    // A browser's fetch throws if it is called as a method of another object.
    fetch: (url: string, init: RequestInit) => send(url, init),
  };
}

function check(isRight: boolean, rule: string): void {
  if (!isRight) throw new TypeError(rule);
}

/** For an invalid key, the error of fetch would quote it. */
function usableKey(key: string): string {
  check(
    typeof key === 'string' && /^[!-~]+$/.test(key),
    'apiKey must contain only visible ASCII characters.',
  );
  return key;
}

/** The error does not quote an invalid URL, which may contain a password. */
function rootOf(baseUrl: string): string {
  const { protocol, username, password, search, hash, origin, pathname } = new URL(
    URL.canParse(baseUrl) ? baseUrl : 'none:',
  );
  const [, prefix] = /^(.*)\/v\d+\/?$/.exec(pathname) ?? [];
  if (/^https?:$/.test(protocol) && prefix !== undefined && !(username || password || search || hash))
    return origin + prefix;
  throw new TypeError(
    'baseUrl must be an http or https URL that ends in the version, such as https://api.example/v1, without user, query or fragment.',
  );
}
