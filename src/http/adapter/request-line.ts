import type { IncomingMessage } from 'node:http';

/** The scheme and authority of a target in absolute form (RFC 9112 section 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?#]+/i;
const FAULT = Symbol('fault of the request line');

type ReadRequest = IncomingMessage & { [FAULT]?: string };

/**
 * Puts the target of a request that has just arrived into origin form, before anything routes by it. What no target or no
 * protocol of ours is gets the target `*` and a fault, for MalformedRequestMiddleware to refuse: Express and Nest could not
 * even log it.
 */
export function readRequestLine(request: ReadRequest): void {
  const { url = '', method } = request;
  if (url.startsWith('/') && request.httpVersion === '1.1') return;
  const target = originFormOf(url);
  if (target === undefined || (target === '*' && method !== 'OPTIONS'))
    request[FAULT] = 'its target is neither a path nor an http URL';
  else if (!isHttp1(request)) request[FAULT] = 'its protocol is not HTTP/1.1';
  request.url = request[FAULT] === undefined ? target : '*';
}

/** What is wrong with the request line, in words that complete "The request is malformed: …". */
export function requestLineFaultOf(request: ReadRequest): string | undefined {
  return request[FAULT];
}

/**
 * The target of a request in origin form, path and query: `/v1/pets` for `http://shop.example/v1/pets`, whose host the service
 * does not look at. `*` stays `*` (RFC 9112 section 3.2). Undefined for anything else, which is no path.
 */
export function originFormOf(target: string): string | undefined {
  if (target.startsWith('/') || target === '*') return target;
  const [origin] = ORIGIN.exec(target) ?? [];
  if (origin === undefined || !URL.canParse(origin)) return undefined;
  const rest = target.slice(origin.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * Node takes HTTP/0.9, HTTP/2.0 and, as version 1.0, RTSP/1.0 and ICE/1.0 for requests. Only the bytes tell the last two from
 * HTTP/1.0, and only Node's parser has them; where it no longer shows them the request passes as HTTP/1.0.
 */
function isHttp1({ httpVersion, socket }: IncomingMessage): boolean {
  if (httpVersion === '1.1') return true;
  if (httpVersion !== '1.0') return false;
  const { parser } = socket as { parser?: { getCurrentBuffer?: () => Buffer | undefined } };
  const bytes = parser?.getCurrentBuffer?.();
  return bytes === undefined || !/ (?:RTSP|ICE)\/1\.0\r?\n/.test(bytes.toString('latin1'));
}
