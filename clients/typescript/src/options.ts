import type { Int64Form } from './int64.js';
import { CHANCES, type Chances, type Fetch, type PlatformFetch, REAL_CHANCES, platform } from './platform.js';

/** How a client is made. */
export interface ClientOptions<Form extends Int64Form = 'bigint'> {
  /** Address of the service with its version, such as `https://api.example/petstore/v1`. */
  readonly baseUrl: string;
  /** The API key, or what answers it; that is asked before each attempt, so that a rotated key is taken. */
  readonly apiKey: string | (() => string | Promise<string>);
  /** What integers of 64 bits become; default `bigint`. Either way they are exact. */
  readonly int64?: Form | undefined;
  /** How long one attempt may take until its answer is read, in milliseconds; default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** When calls are tried again. */
  readonly retry?: RetryOptions | undefined;
  /** What sends requests; default the `fetch` of the platform. */
  readonly fetch?: PlatformFetch | undefined;
}

/** When calls are tried again. */
export interface RetryOptions {
  /** At most so many times; default 5. With 0 a call waits for nothing. */
  readonly retries?: number | undefined;
  /**
   * No attempt begins later than so many milliseconds after the call; default 60,000. A wait that does not fit is not begun: the error
   * is thrown at once, with `retryAfterMs`.
   */
  readonly budgetMs?: number | undefined;
}

/** Options that are checked and complete. */
export interface CheckedOptions<Form extends Int64Form> {
  /** The address before the version, such as `https://api.example/petstore`. */
  readonly root: string;
  readonly apiKey: () => Promise<string>;
  readonly form: Form;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly budgetMs: number;
  readonly fetch: Fetch;
  readonly chances: Chances;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_RETRIES = 5;
const DEFAULT_BUDGET_MS = 60_000;

/** Checks options. Throws a TypeError that names the wrong one, and never shows a key. */
export function checked<Form extends Int64Form>(options: ClientOptions<Form>): CheckedOptions<Form> {
  const { apiKey, int64 = 'bigint', timeoutMs = DEFAULT_TIMEOUT_MS, retry = {} } = options;
  const { retries = DEFAULT_RETRIES, budgetMs = DEFAULT_BUDGET_MS } = retry;
  // The platform's own type of fetch, where it is known, is wider than what is called here.
  const given: unknown = options.fetch ?? platform.fetch;
  const fetch = given as Fetch;
  if (int64 !== 'bigint' && int64 !== 'string') throw new TypeError("int64 must be 'bigint' or 'string'.");
  if (!(timeoutMs > 0)) throw new TypeError('timeoutMs must be more than 0.');
  if (!Number.isInteger(retries) || retries < 0)
    throw new TypeError('retry.retries must be an integer from 0 on.');
  if (!(budgetMs >= 0)) throw new TypeError('retry.budgetMs must be at least 0.');
  if (typeof fetch !== 'function') throw new TypeError('There is no fetch here; give one.');
  if (typeof apiKey === 'string') usableKey(apiKey);
  else if (typeof apiKey !== 'function') throw new TypeError('apiKey must be a string or a function.');
  const chances = (options as { [CHANCES]?: Chances })[CHANCES] ?? REAL_CHANCES;
  return {
    root: rootOf(options.baseUrl),
    apiKey: async () => usableKey(typeof apiKey === 'function' ? await apiKey() : apiKey),
    form: int64 as Form,
    timeoutMs,
    retries,
    budgetMs,
    // A browser's fetch wants to be called on nothing.
    fetch: (url, init) => fetch(url, init),
    chances,
  };
}

/** A key that can be sent: what fetch says of another one would quote it. */
function usableKey(key: unknown): string {
  if (typeof key === 'string' && /^[!-~]+$/.test(key)) return key;
  throw new TypeError('apiKey must have visible ASCII characters only, and at least one.');
}

/** The address before the version. Nothing of a wrong one is shown, since it may hold a password. */
function rootOf(baseUrl: unknown): string {
  const wrong = new TypeError(
    'baseUrl must be an absolute http or https address that ends in the version, such as https://api.example/v1, without user, query and fragment.',
  );
  let url;
  try {
    url = new platform.URL(String(baseUrl));
  } catch {
    throw wrong;
  }
  const { protocol, username, password, search, hash, origin, pathname } = url;
  const [, prefix] = /^(.*)\/v\d+\/?$/.exec(pathname) ?? [];
  if (!/^https?:$/.test(protocol) || username || password || search || hash || prefix === undefined)
    throw wrong;
  return origin + prefix;
}
