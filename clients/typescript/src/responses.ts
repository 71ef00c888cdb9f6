import { PetstoreError, type ErrorDetail, type Refusal, UnexpectedResponseError } from './errors.js';
import { ERROR_CLASSES } from './generated/errors.js';

/** The limit according to the last response. */
export interface Quota {
  /** Requests allowed in the window. */
  readonly limit: number;
  readonly remaining: number;
  /** When the full limit is available again. */
  readonly resetsAt: Date;
}

export function quotaOf(headers: Headers): Quota | undefined {
  const numberIn = (name: string) => Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN);
  const [limit, remaining, resetsAt] = [
    numberIn('limit'),
    numberIn('remaining'),
    new Date(numberIn('reset') * 1_000),
  ];
  return Number.isNaN(limit + remaining + resetsAt.getTime()) ? undefined : { limit, remaining, resetsAt };
}

/**
 * The entity tag as the service sent it. A compressing proxy makes it weak or appends the coding. The service sends only strong tags, and
 * would refuse such a tag in `If-Match`.
 */
export function tagOf(headers: Headers): string | undefined {
  return headers.get('etag')?.replace(/^W\/|-(?:gzip|br|zstd|deflate)(?="$)/g, '');
}

/** The error for a response. `asked` describes the request; `text` does not contain the key. */
export function errorOf(response: Response, text: string, description: string, url: string): Error {
  const { status, headers } = response;
  const retry = retryAfterMs(headers);
  const unexpected = (what: string) =>
    new UnexpectedResponseError(`${description} got ${status} with ${what}.`, response, text, retry);
  if (status < 400) return unexpected('a redirect; set baseUrl to its target');
  const body = isJson(response) ? errorBody(text) : undefined;
  if (!body) return unexpected('an error that is not from the service');
  const requestId = headers.get('x-request-id') ?? undefined;
  const help = linkTarget(headers, 'help', url);
  return refusalOf({ ...body, status, requestId, help: help?.href, retryAfterMs: retry });
}

/** Creates an error of the class for its code. */
export function refusalOf(refusal: Refusal): PetstoreError {
  const known = Object.hasOwn(ERROR_CLASSES, refusal.code) ? ERROR_CLASSES[refusal.code] : undefined;
  return new (known ?? PetstoreError)(refusal);
}

export const isJson = ({ headers }: Response): boolean =>
  /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(headers.get('content-type') ?? '');

/** The target of a relation in `Link`, if it is an http or https URL, because applications may show it as a link. */
export function linkTarget(headers: Headers, relation: string, base: string): URL | undefined {
  const link = new RegExp(`<([^<>]*)>\\s*;\\s*rel="${relation}"`).exec(headers.get('link') ?? '');
  const url = link?.[1] !== undefined && URL.canParse(link[1], base) ? new URL(link[1], base) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}

/**
 * The wait in `Retry-After`, in milliseconds. An HTTP date is compared with the `Date` of the response, if readable, because clocks differ.
 * Undefined for an invalid value.
 */
function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after') ?? '';
  if (/^\d{1,10}$/.test(value)) return Number(value) * 1_000;
  const ms = Date.parse(value) - (Date.parse(headers.get('date') ?? '') || Date.now());
  return value.endsWith('GMT') && !Number.isNaN(ms) ? Math.max(0, ms) : undefined;
}

function errorBody(text: string): Pick<Refusal, 'code' | 'message' | 'details'> | undefined {
  try {
    const { code, message, details } = JSON.parse(text) as Record<string, unknown>;
    if (typeof code !== 'string' || typeof message !== 'string') return undefined;
    return { code, message, details: Array.isArray(details) ? (details as ErrorDetail[]) : [] };
  } catch {
    return undefined;
  }
}
