import type { IncomingMessage } from 'node:http';
import { RequestSlot } from '../../request-slot.js';

/** The scheme and authority of a target in absolute form (RFC 9112 section 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?#]+/i;
const FAULT = new RequestSlot<string>();

/**
 * Rewrites the target of a request that has just arrived to origin form, before anything routes by it. If the target or the
 * protocol is not supported, the request gets the target `*` and a fault, which MalformedRequestMiddleware refuses. With the
 * original target Express and Nest could not even log the request.
 */
export function readRequestLine(request: IncomingMessage): void {
  const { url = '', method } = request;
  if (url.startsWith('/') && request.httpVersion === '1.1') return;
  const target = originFormOf(url);
  if (target === undefined || (target === '*' && method !== 'OPTIONS'))
    FAULT.set(request, 'its target is neither a path nor an http URL');
  else if (!isHttp1(request)) FAULT.set(request, 'its protocol is not HTTP/1.1');
  request.url = FAULT.get(request) === undefined ? target : '*';
}

/** What is wrong with the request line, as words that complete "The request is malformed: …"; undefined if nothing is. */
export function requestLineFaultOf(request: IncomingMessage): string | undefined {
  return FAULT.get(request);
}

/**
 * The origin form of a request target, which is its path and query: `/v1/pets` for `http://shop.example/v1/pets`. The host is
 * dropped, because the service does not use it. `*` stays `*` (RFC 9112 section 3.2). Undefined for every other form.
 */
export function originFormOf(target: string): string | undefined {
  if (target.startsWith('/') || target === '*') return target;
  const [origin] = ORIGIN.exec(target) ?? [];
  if (origin === undefined || !URL.canParse(origin)) return undefined;
  const rest = target.slice(origin.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * Whether the protocol is HTTP/1.0 or HTTP/1.1. Node's parser also accepts HTTP/0.9, HTTP/2.0, and RTSP/1.0 and ICE/1.0, which
 * it reports as version 1.0. Only the received bytes distinguish the last two from HTTP/1.0, and only Node's parser has them.
 * If Node no longer gives access to them, such a request is treated as HTTP/1.0.
 */
function isHttp1({ httpVersion, socket }: IncomingMessage): boolean {
  if (httpVersion === '1.1') return true;
  if (httpVersion !== '1.0') return false;
  const { parser } = socket as { parser?: { getCurrentBuffer?: () => Buffer | undefined } };
  const bytes = parser?.getCurrentBuffer?.();
  return bytes === undefined || !/ (?:RTSP|ICE)\/1\.0\r?\n/.test(bytes.toString('latin1'));
}
