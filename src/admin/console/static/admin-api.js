// @ts-check
// Sends requests to /admin, or to /account for a key holder. These APIs are public, so the page can do nothing that a script
// could not do.
import { pauseFor } from './backoff.js';
import { endSession, keyOfTab } from './session.js';
import { learnTime } from './times.js';

/** Whether this is the page of a key holder, which uses /account, rather than that of operators, which uses /admin. */
export const isHolder = new URL(document.baseURI).pathname.endsWith('/account/');
/** Relative to the page's address, so that the path includes the prefix of a proxy. */
const API = new URL(isHolder ? './' : '../admin/', document.baseURI);
/** Time limit for a response, in milliseconds. */
const TIMEOUT_MS = 20_000;
/** Time limit for a file, in milliseconds. */
const FILE_TIMEOUT_MS = 600_000;
/** Seconds to wait if the response does not specify a time. */
const DEFAULT_WAIT_S = 5;

/**
 * A refused request, or one without a response, whose `status` is 0. A response without the Error body of the service (`isOwn` is false)
 * comes from a proxy in front of it, and says nothing about clients and keys.
 */
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   * @param {{ retryAfterS?: number, details?: readonly { field: string, message: string }[], isOwn?: boolean, mayBeDone?: boolean }} [more]
   */
  constructor(status, code, message, { retryAfterS, details = [], isOwn = false, mayBeDone = false } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterS = retryAfterS;
    this.details = details;
    this.isOwn = isOwn;
    /** Whether a change may have been made although its response was lost. */
    this.mayBeDone = mayBeDone;
  }

  /** Whether the service refused the request with this code. @param {string} code */
  is(code) {
    return this.isOwn && this.code === code;
  }

  /** Whether the key itself is refused. */
  get endsSession() {
    return (
      (this.isOwn && this.status === 401) || this.is('insufficient_scope') || this.is('client_suspended')
    );
  }
}

/**
 * @typedef {object} ApiResponse
 * @property {any} body
 * @property {string | undefined} next the cursor of the next page
 * @property {number | undefined} total the number of entries in the whole list, if the service counts them
 * @property {string | null} tag of the response, for `ifMatch`
 */

/**
 * Sends one request. Throws Refusal; a refusal of the key also ends the session.
 * @param {string} method
 * @param {string} path below /admin/ or /account/
 * @param {{ query?: Record<string, string | number | boolean | undefined>, json?: unknown, key?: string, signal?: AbortSignal, ifMatch?:   string | null, isFile?: boolean }} [options]
 *   with `isFile`, the text of the response is returned unchanged
 * @returns {Promise<ApiResponse>}
 */
export async function request(method, path, options = {}) {
  const { query = {}, json, key, signal, ifMatch, isFile = false } = options;
  const url = new URL(path, API);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  const sent = key ?? keyOfTab() ?? '';
  const isChange = method !== 'GET';
  const timeoutMs = isFile ? FILE_TIMEOUT_MS : TIMEOUT_MS;
  const { response, text } = await fetchText(url, isChange, timeoutMs, signal, {
    method,
    headers: {
      authorization: `Bearer ${sent}`,
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(ifMatch ? { 'if-match': ifMatch } : {}),
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
  });
  learnTime(response.headers.get('date'));
  const body = isFile && response.ok ? text : parsed(text);
  const { headers } = response;
  if (response.ok && body !== undefined)
    return {
      body,
      next: nextOf(headers.get('link')),
      total: headers.has('x-total-count') ? Number(headers.get('x-total-count')) : undefined,
      tag: tagOf(headers),
    };
  const refusal = response.ok ? unexpectedResponse(isChange) : refusalOf(response, body, isChange);
  if (key !== undefined) throw refusal;
  if (refusal.status === 429) pauseFor(refusal);
  // A read-only key can still be used to read.
  if (refusal.endsSession && !(isChange && refusal.is('insufficient_scope'))) {
    const current = keyOfTab();
    // The tab has received another key during the request. A refused request has changed nothing, so it can be repeated.
    if (current !== null && current !== sent) return request(method, path, options);
    endSession(sent, `You were signed out. ${refusal.message} (${refusal.code})`);
  }
  throw refusal;
}

/**
 * The entity tag as the service sent it. A compressing proxy makes it weak or appends the coding. The service sends only strong tags, and
 * would refuse such a tag in `If-Match`.
 * @param {Headers} headers
 */
function tagOf(headers) {
  return headers.get('etag')?.replace(/^W\/|-(?:gzip|br|zstd|deflate)(?="$)/g, '') ?? null;
}

/**
 * The complete response, including its body.
 * @param {URL} url
 * @param {boolean} isChange
 * @param {number} timeoutMs
 * @param {AbortSignal | undefined} signal
 * @param {RequestInit} init
 */
async function fetchText(url, isChange, timeoutMs, signal, init) {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      ...init,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    return { response, text: await response.text() };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refusal(0, 'no_response', 'The service does not respond.', { mayBeDone: isChange });
  }
}

/** The account of a key, fetched once. @type {{ key: string | null, account: Promise<any> | undefined }} */
let cached = { key: null, account: undefined };

/**
 * The client and key of the tab; undefined if unknown, for example behind a proxy that exposes only the administration. The key can neither
 * grant a scope that it lacks nor create a key that expires later.
 * @returns {Promise<any>}
 */
export function me() {
  const key = keyOfTab();
  if (cached.key !== key || !cached.account) cached = { key, account: fetchAccount() };
  return cached.account ?? fetchAccount();
}

async function fetchAccount() {
  try {
    return (await request('GET', '../account')).body;
  } catch (error) {
    if (error instanceof Refusal && (error.status === 404 || error.is('no_account'))) return undefined;
    cached.account = undefined;
    throw error;
  }
}

/** The Refusal for a response that cannot be from the service. @param {boolean} [isChange] */
export function unexpectedResponse(isChange = false) {
  return new Refusal(0, 'unexpected_response', 'This response is not from the service.', {
    mayBeDone: isChange,
  });
}

/** @param {Response} response @param {any} body @param {boolean} isChange */
function refusalOf({ status, headers }, body, isChange) {
  const wait = Number(headers.get('retry-after'));
  const retryAfterS = headers.has('retry-after') && Number.isFinite(wait) ? wait : DEFAULT_WAIT_S;
  if (typeof body?.code === 'string' && typeof body.message === 'string' && body.status === status)
    return new Refusal(status, body.code, body.message, {
      retryAfterS,
      details: body.details,
      isOwn: true,
      mayBeDone: isChange && status >= 500,
    });
  // The response is from a proxy, not from the service.
  const effective = status === 502 || status === 504 ? 503 : status;
  const message = `The response was ${status}, without a reason from the service.`;
  return new Refusal(effective, `http_${status}`, message, { retryAfterS, mayBeDone: isChange });
}

/**
 * Parses JSON with exact integers: one that a JavaScript number cannot represent becomes text.
 * @param {string} text
 */
function parsed(text) {
  try {
    return JSON.parse(
      text,
      // TypeScript does not declare the third argument yet.
      /** @type {(this: any, key: string, value: any) => any} */ (exact),
    );
  } catch {
    return undefined;
  }
}

/** @param {string} _ @param {unknown} value @param {{ source?: string }} [context] */
function exact(_, value, context) {
  if (typeof value !== 'number' || !Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  return context?.source ?? value;
}

/** The cursor of the next page in a `Link` (RFC 8288), whose path may lack the prefix of a proxy. @param {string | null} link */
function nextOf(link) {
  const target = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? '')?.[1];
  return target === undefined ? undefined : (new URL(target, API).searchParams.get('cursor') ?? undefined);
}
