import { stringify } from 'lossless-json';

/** The response to a request; `body` is the parsed JSON. */
export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

/** Options of one request. */
export interface RequestOptions {
  readonly key?: string | null;
  /** A value whose `bigint`s are sent as JSON integers, or JSON text. */
  readonly json?: unknown;
  /** A body that fetch accepts, such as FormData, instead of JSON. */
  readonly body?: NonNullable<RequestInit['body']>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request to an address and returns the response, whatever its status. */
export async function send(
  origin: string,
  method: string,
  path: string,
  { key, json, body, headers = {} }: RequestOptions,
): Promise<TestResponse> {
  const sent = new Headers();
  if (typeof key === 'string') sent.set('authorization', `Bearer ${key}`);
  if (json !== undefined) sent.set('content-type', 'application/json');
  // Replaces a default header whose name may differ in case. Given both, fetch would combine their values.
  for (const [name, value] of Object.entries(headers)) sent.set(name, value);
  const response = await fetch(origin + path, {
    method,
    redirect: 'manual',
    headers: sent,
    ...(json === undefined ? {} : { body: typeof json === 'string' ? json : stringify(json) }),
    ...(body === undefined ? {} : { body, duplex: 'half' as const }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) as never };
}

/** The target of a page's `Link` with rel `next` (RFC 8288); undefined on the last page. */
export function nextPageOf(headers: Headers): string | undefined {
  return /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
