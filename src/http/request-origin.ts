import type { Request } from 'express';

/** Host and optional port as a URL writes them: a name, an IPv4 address, or an IPv6 address in brackets. */
const AUTHORITY = /^(?:[a-z\d](?:[a-z\d._-]*[a-z\d.])?|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
/** The longest name of a host (RFC 1035 section 2.3.4), with a port. */
const LONGEST = 255 + ':65535'.length;

/**
 * The origin that a client reaches the service at, such as `http://127.0.0.1:3000`: scheme and host of the request, or those that
 * a trusted proxy (TRUST_PROXY) forwards. Undefined when that is no origin. A client may name any host, so nothing that one
 * request gets from this may be shown to others.
 */
export function originOf(request: Request): string | undefined {
  const { protocol, host } = request;
  if (protocol !== 'http' && protocol !== 'https') return undefined;
  if (typeof host !== 'string' || host.length > LONGEST || !AUTHORITY.test(host)) return undefined;
  const origin = `${protocol}://${host}`;
  return URL.canParse(origin) ? new URL(origin).origin : undefined;
}
