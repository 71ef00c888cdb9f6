// @ts-check
// Asks the administration. Every answer is one of the public admin API; there is nothing here that a script could not do.
import { pauseFor } from './patience.js';
import { endSession, keyOfTab } from './session.js';
import { learnTime } from './times.js';

/** Below the console's own address, so that a prefix of a proxy stays in front of it. */
const ADMIN = new URL('../admin/', document.baseURI);
/** How long an answer may take, in milliseconds. */
const PATIENCE_MS = 20_000;
/** Seconds to wait where the service names none. */
const DEFAULT_WAIT_S = 5;

/**
 * A refusal, or no answer at all: `status` is 0. What has not the body of an error of the service (`isOwn`) came from something in
 * front of it, and says nothing about clients and keys.
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
    /** Whether an order may have been done although its answer is lost. */
    this.mayBeDone = mayBeDone;
  }

  /** Whether the service refused for this reason. @param {string} code */
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
 * @typedef {object} Answer
 * @property {any} body
 * @property {string | undefined} next the cursor of the next page
 */

/**
 * Asks one operation. Throws Refusal; one of the key itself ends the session too.
 * @param {string} method
 * @param {string} path below /admin/
 * @param {{ query?: Record<string, string | number | boolean | undefined>, json?: unknown, key?: string, signal?: AbortSignal }} [options]
 * @returns {Promise<Answer>}
 */
export async function ask(method, path, { query = {}, json, key, signal } = {}) {
  const url = new URL(path, ADMIN);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  const sent = key ?? keyOfTab() ?? '';
  const isOrder = method !== 'GET';
  const { response, text } = await answered(url, isOrder, signal, {
    method,
    headers: {
      authorization: `Bearer ${sent}`,
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
  });
  learnTime(response.headers.get('date'));
  const body = parsed(text);
  if (response.ok && body !== undefined) return { body, next: nextOf(response.headers.get('link')) };
  const refusal = response.ok ? strangeAnswer(isOrder) : refusalOf(response, body, isOrder);
  if (key !== undefined) throw refusal;
  if (refusal.status === 429) pauseFor(refusal);
  if (refusal.endsSession) {
    const kept = keyOfTab();
    // The tab got another key while this was on its way; what was refused was not done.
    if (kept !== null && kept !== sent) return ask(method, path, { query, json, signal });
    endSession(sent, `You were signed out. ${refusal.message} (${refusal.code})`);
  }
  throw refusal;
}

/**
 * The answer with its whole body.
 * @param {URL} url
 * @param {boolean} isOrder
 * @param {AbortSignal | undefined} signal
 * @param {RequestInit} request
 */
async function answered(url, isOrder, signal, request) {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  try {
    const response = await fetch(url, {
      ...request,
      signal: signal ? AbortSignal.any([signal, patience]) : patience,
    });
    return { response, text: await response.text() };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refusal(0, 'no_answer', 'The service does not answer.', { mayBeDone: isOrder });
  }
}

/** The refusal of an answer that the service never gives. @param {boolean} [isOrder] */
export function strangeAnswer(isOrder = false) {
  return new Refusal(0, 'strange_answer', 'This response is not from the service.', { mayBeDone: isOrder });
}

/** @param {Response} response @param {any} body @param {boolean} isOrder */
function refusalOf({ status, headers }, body, isOrder) {
  const wait = Number(headers.get('retry-after'));
  const retryAfterS = headers.has('retry-after') && Number.isFinite(wait) ? wait : DEFAULT_WAIT_S;
  if (typeof body?.code === 'string' && typeof body.message === 'string' && body.status === status)
    return new Refusal(status, body.code, body.message, {
      retryAfterS,
      details: body.details,
      isOwn: true,
      mayBeDone: isOrder && status >= 500,
    });
  // A proxy in front answered in the service's place.
  const away = status === 502 || status === 504 ? 503 : status;
  const message = `The response was ${status}, without a reason from the service.`;
  return new Refusal(away, `http_${status}`, message, { retryAfterS, mayBeDone: isOrder });
}

/**
 * JSON with each integer exact: one that a JavaScript number cannot hold becomes its text.
 * @param {string} text
 */
function parsed(text) {
  try {
    return JSON.parse(
      text,
      // TypeScript does not know the third argument yet.
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

/** The cursor of the page that `Link` calls next (RFC 8288); its path may lack the prefix of a proxy. @param {string | null} link */
function nextOf(link) {
  const target = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? '')?.[1];
  return target === undefined ? undefined : (new URL(target, ADMIN).searchParams.get('cursor') ?? undefined);
}
