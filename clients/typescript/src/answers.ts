import { PetstoreError, type Refusal, UnexpectedResponseError, type FaultDetail } from './errors.js';
import { ERROR_CLASSES } from './generated/errors.js';
import { SHAPES } from './generated/operations.js';
import type { Attempted, AttemptRequest } from './attempt.js';
import type { Int64Form } from './int64.js';
import { readJson } from './json/exact-json.js';
import { linkTarget } from './link.js';
import type { Operation } from './operation.js';
import { type FetchedResponse, platform } from './platform.js';
import { retryAfterMs } from './retry-after.js';

const EXCERPT_CHARACTERS = 200;

/** The limit that applies, as the last answer told it. */
export interface Quota {
  /** Requests that the window allows. */
  readonly limit: number;
  /** Requests left in the window. */
  readonly remaining: number;
  /** When the full limit is available again. */
  readonly resetsAt: Date;
}

/** What an answer is read with. */
export interface AnswerContext {
  readonly operation: Operation;
  readonly request: AttemptRequest;
  readonly form: Int64Form;
  /** The key that was sent: no error may hold it. */
  readonly apiKey: string;
  /** When the answer came, in milliseconds since 1970. */
  readonly now: number;
}

/** Whether the operation was carried out. */
export function isSuccess({ response }: Attempted): boolean {
  return response.status >= 200 && response.status < 300;
}

/** What an operation answers. Throws an UnexpectedResponseError for what it cannot have answered. */
export function answerOf(attempted: Attempted, context: AnswerContext): unknown {
  const { operation, form } = context;
  if (!operation.hasAnswer) return undefined;
  if (!isJson(attempted.response)) throw unexpected('an answer that is no JSON', attempted, context);
  try {
    const answer = readJson(attempted.text, { shape: operation.answer ?? undefined, shapes: SHAPES, form });
    if (answer === null) throw new SyntaxError('null');
    return answer;
  } catch (error) {
    // What a SyntaxError says quotes the text, which may quote the request.
    const why = error instanceof Error ? withoutKey(error.message, context) : '';
    throw unexpected(`an answer that cannot be read (${why})`, attempted, context);
  }
}

/** The refusal that an answer is, of its code's own class; an UnexpectedResponseError for what is none of the service. */
export function refusalOf(
  attempted: Attempted,
  context: AnswerContext,
): PetstoreError | UnexpectedResponseError {
  const { response, text } = attempted;
  const { status } = response;
  if (status < 400)
    return unexpected('a redirection; give the address that it leads to as baseUrl', attempted, context);
  const body = isJson(response) ? errorBody(text) : undefined;
  if (!body) return unexpected('a refusal that is none of the service', attempted, context);
  return refusalWith({
    code: withoutKey(body.code, context),
    message: withoutKey(body.message, context),
    status,
    details: body.details.map(({ field, code, message }) => ({
      field: withoutKey(field, context),
      code: withoutKey(code, context),
      message: withoutKey(message, context),
    })),
    requestId: requestIdOf(response),
    help: helpOf(response, context.request.url),
    retryAfterMs: retryAfterMs(response.headers, context.now),
  });
}

/** A refusal of its code's own class. */
export function refusalWith(refusal: Refusal): PetstoreError {
  const known = Object.hasOwn(ERROR_CLASSES, refusal.code) ? ERROR_CLASSES[refusal.code] : undefined;
  return new (known ?? PetstoreError)(refusal);
}

/** The quota that an answer tells; undefined when it tells none. */
export function quotaOf({ headers }: FetchedResponse): Quota | undefined {
  const [limit, remaining, resetsAt] = ['limit', 'remaining', 'reset'].map((name) => {
    const value = headers.get(`x-ratelimit-${name}`);
    return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  });
  if (limit === undefined || remaining === undefined || resetsAt === undefined) return undefined;
  return { limit, remaining, resetsAt: new Date(resetsAt * 1_000) };
}

/** An error for an answer that the service cannot have sent. */
export function unexpected(
  what: string,
  { response, text }: Attempted,
  context: AnswerContext,
): UnexpectedResponseError {
  const { method, url } = context.request;
  const path = new platform.URL(url).pathname;
  return new UnexpectedResponseError(`${method} ${path} was answered ${response.status} with ${what}.`, {
    status: response.status,
    contentType: response.headers.get('content-type') ?? undefined,
    bodyStart: withoutKey(text, context).slice(0, EXCERPT_CHARACTERS),
    requestId: requestIdOf(response),
    retryAfterMs: retryAfterMs(response.headers, context.now),
  });
}

function isJson({ headers }: FetchedResponse): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(headers.get('content-type') ?? '');
}

function requestIdOf({ headers }: FetchedResponse): string | undefined {
  return headers.get('x-request-id') ?? undefined;
}

/** The page that explains a refusal, if it is one of the web: its address may end up in a link. */
function helpOf({ headers }: FetchedResponse, requestUrl: string): string | undefined {
  try {
    const target = linkTarget(headers.get('link') ?? '', 'help');
    if (target === undefined) return undefined;
    const { protocol, href } = new platform.URL(target, requestUrl);
    return protocol === 'https:' || protocol === 'http:' ? href : undefined;
  } catch {
    return undefined;
  }
}

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly details: readonly FaultDetail[];
}

function errorBody(text: string): ErrorBody | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { code, message, details } = value;
  if (typeof code !== 'string' || typeof message !== 'string') return undefined;
  const found: unknown[] = Array.isArray(details) ? details : [];
  return { code, message, details: found.filter(isDetail) };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const isDetail = (value: unknown): value is FaultDetail =>
  isRecord(value) &&
  [value['field'], value['code'], value['message']].every((one) => typeof one === 'string');

function withoutKey(text: string, { apiKey }: AnswerContext): string {
  return text.replaceAll(apiKey, '…');
}
