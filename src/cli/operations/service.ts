import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, RequestOptions } from 'node:http';
import { text as bodyOf } from 'node:stream/consumers';
import { parse, stringify } from 'lossless-json';
import { Refusal } from '../../core/refusal.js';

/** The service that commands send their requests to: that of this process, or one at an address. */
export interface Service {
  /** Path of its administration, such as `/admin`. */
  readonly base: string;
  /** Begins a request. */
  readonly open: (
    options: Omit<RequestOptions, 'headers'> & { readonly headers: OutgoingHttpHeaders },
  ) => ClientRequest;
  /** What the application has thrown for the last request; undefined if it is in another process. Called before any refusal. */
  readonly thrown: () => unknown;
}

/** A request to the administration. */
export interface Sent {
  readonly method: string;
  /** Below that of the administration. */
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  /** The members of the body, if it has one. */
  readonly body?: object;
}

/** The next page of a list, in its `Link`. */
const NEXT_CURSOR = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/;
/** Entries on a page, as many as the service sends. */
const PAGE_SIZE = 100;

/**
 * Sends a request once, also if it fails; resolves to a successful response, whose body is to be read. Throws ApiError for an Error body,
 * and Refusal for any other response and without one.
 */
export async function send(
  service: Service,
  { method, path, query = {}, body }: Sent,
): Promise<IncomingMessage> {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) search.append(name, String(one));
  const json = body && stringify(body);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    service
      .open({
        method: method.toUpperCase(),
        path: `${service.base}${path}${search.size > 0 ? `?${search.toString()}` : ''}`,
        headers:
          json === undefined
            ? {}
            : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(json) },
      })
      .on('response', resolve)
      .on('error', (error) => reject(new Refusal(unreachable(method, error))))
      .end(json);
  });
  const { statusCode: status = 0 } = response;
  if (status >= 200 && status < 300) return response;
  throw await refusalOf(status, response, service);
}

/** The body of a successful response, with exact numbers; undefined without one. */
export async function read(service: Service, sent: Sent): Promise<unknown> {
  const received = await bodyOf(await send(service, sent));
  return received === '' ? undefined : exactJson(received);
}

/** Entries of a list. */
export interface ListPart<Entry> {
  readonly entries: Entry[];
  /** How many there are in all, where the service counts them. */
  readonly total?: number;
}

/**
 * The first entries of a list, or all of them, page by page, and how many there are in all, where the service counts them. It refuses a
 * `most` that is not a number.
 */
export async function readList<Entry>(
  service: Service,
  sent: Sent,
  most: unknown = Infinity,
): Promise<ListPart<Entry>> {
  const entries: Entry[] = [];
  let total: unknown;
  const left = () => Number(most) - entries.length;
  let cursor: string | undefined;
  do {
    const limit = left() > 0 ? Math.min(PAGE_SIZE, left()) : most;
    const query = { ...sent.query, limit, ...(cursor === undefined ? {} : { cursor }) };
    const response = await send(service, { ...sent, query });
    entries.push(...(exactJson(await bodyOf(response)) as Entry[]));
    total = response.headers['x-total-count'];
    const [, next] = NEXT_CURSOR.exec([response.headers.link].flat().join()) ?? [];
    cursor = next;
  } while (cursor !== undefined && left() > 0);
  return total === undefined ? { entries } : { entries, total: Number(total) };
}

/** Parses JSON: an integer that a number cannot hold is a bigint. Throws SyntaxError. */
export function exactJson(text: string): unknown {
  return parse(text, undefined, {
    parseNumber: (digits) =>
      Number.isSafeInteger(Number(digits)) || /[.eE]/.test(digits) ? Number(digits) : BigInt(digits),
  });
}

async function refusalOf(status: number, response: IncomingMessage, { thrown }: Service): Promise<unknown> {
  const cause = await thrown();
  // The command line says more about a failure than a client may know.
  if (status >= 500 && cause instanceof Error) return cause;
  const { location } = response.headers;
  const received = await bodyOf(response);
  // Only now, because it loads Nest.
  const { ApiError } = await import('../../core/errors/api-error.js');
  try {
    const { code, message, details } = JSON.parse(received) as InstanceType<typeof ApiError>['body'];
    if (typeof code === 'string' && typeof message === 'string')
      return new ApiError({ code, message, status, cause: '', remedy: '' }, details ? { details } : {});
  } catch {
    // Not of this service, but of a proxy.
  }
  const where = location === undefined ? '' : ` It redirects to ${location}; redirects are not followed.`;
  return new Refusal(`The response has the status ${status} and is not from this service.${where}`);
}

function unreachable(method: string, { message }: Error): string {
  const doubt = method === 'get' ? '' : ' The change may have been made; check before you repeat it.';
  return `There is no response: ${message}.${doubt}`;
}
