import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, RequestOptions } from 'node:http';
import { text as bodyOf } from 'node:stream/consumers';
import { parse, stringify } from 'lossless-json';
import { Refusal } from '../../core/refusal.js';

/** The service that a command calls, in this process or at an address. */
export interface Service {
  /** Path of its administration, such as `/admin`. */
  readonly base: string;
  /** Starts a request. */
  readonly open: (
    options: Omit<RequestOptions, 'headers'> & { readonly headers: OutgoingHttpHeaders },
  ) => ClientRequest;
  /**
   * The error that the application threw for the last request; undefined if the service is another process. Call it before reporting an
   * error.
   */
  readonly thrown: () => unknown;
}

/** A request to the administration. */
export interface Sent {
  readonly method: string;
  /** The path below that of the administration. */
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: object;
}

/** The cursor of the next page in the `Link` header. */
const NEXT_CURSOR = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/;
/** Entries on a page: the service's maximum. */
const PAGE_SIZE = 100;

/**
 * Sends a request without retrying it. Resolves to a successful response, whose body is not read yet. Throws ApiError for an Error body,
 * and Refusal for any other response or if there is none.
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

/** The parsed body of a successful response, with exact numbers; undefined if it is empty. */
export async function read(service: Service, sent: Sent): Promise<unknown> {
  const received = await bodyOf(await send(service, sent));
  return received === '' ? undefined : exactJson(received);
}

/** Entries of a list. */
export interface ListPart<Entry> {
  readonly entries: Entry[];
  /** The total number of entries, if the service counts them. */
  readonly total?: number;
}

/**
 * Reads up to `max` entries of a list, page by page, and their total number if the service counts them. Throws Refusal if `max` is not a
 * number.
 */
export async function readList<Entry>(
  service: Service,
  sent: Sent,
  max: unknown = Infinity,
): Promise<ListPart<Entry>> {
  const entries: Entry[] = [];
  let total: unknown;
  const left = () => Number(max) - entries.length;
  let cursor: string | undefined;
  do {
    const limit = left() > 0 ? Math.min(PAGE_SIZE, left()) : max;
    const query = { ...sent.query, limit, ...(cursor === undefined ? {} : { cursor }) };
    const response = await send(service, { ...sent, query });
    entries.push(...(exactJson(await bodyOf(response)) as Entry[]));
    total = response.headers['x-total-count'];
    const [, next] = NEXT_CURSOR.exec([response.headers.link].flat().join()) ?? [];
    cursor = next;
  } while (cursor !== undefined && left() > 0);
  return total === undefined ? { entries } : { entries, total: Number(total) };
}

/** Parses JSON; an integer beyond the safe range becomes a bigint. Throws SyntaxError. */
export function exactJson(text: string): unknown {
  return parse(text, undefined, {
    parseNumber: (digits) =>
      Number.isSafeInteger(Number(digits)) || /[.eE]/.test(digits) ? Number(digits) : BigInt(digits),
  });
}

async function refusalOf(status: number, response: IncomingMessage, { thrown }: Service): Promise<unknown> {
  const cause = await thrown();
  // The command line may say more about a failure than an HTTP client may know.
  if (status >= 500 && cause instanceof Error) return cause;
  const { location } = response.headers;
  const received = await bodyOf(response);
  // Imported only here, because it loads Nest.
  const { ApiError } = await import('../../core/errors/api-error.js');
  try {
    const { code, message, details } = JSON.parse(received) as InstanceType<typeof ApiError>['body'];
    if (typeof code === 'string' && typeof message === 'string')
      return new ApiError({ code, message, status, cause: '', remedy: '' }, details ? { details } : {});
  } catch {
    // A response of a proxy, not of the service.
  }
  const where = location === undefined ? '' : ` It redirects to ${location}; redirects are not followed.`;
  return new Refusal(`The response has the status ${status} and is not from this service.${where}`);
}

function unreachable(method: string, { message }: Error): string {
  const doubt = method === 'get' ? '' : ' The change may have been made; check before you repeat it.';
  return `There is no response: ${message}.${doubt}`;
}
