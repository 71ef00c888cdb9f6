import { isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';

/** The decoded parts of a server's URL; empty if absent. */
export interface ServerUrl {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** The path segments after the host; at least one. */
  readonly path: readonly string[];
  readonly parameters: URLSearchParams;
}

/** Completes the allowed forms of a URL that may contain a password. */
export const ENCODED = 'in a user or password, write / as %2F, ? as %3F, # as %23, and % as %25';

/** Parses the URL of a server, which may have each of the `known` parameters once; undefined if it is invalid. */
export function readServerUrl(
  text: string,
  defaultPort: number,
  known: readonly string[] = [],
): ServerUrl | undefined {
  // URL drops line breaks, which usually come from the end of a password file. A password may also contain a #.
  if (/[\p{Cc}#]/u.test(text) || !URL.canParse(text)) return undefined;
  const { hostname, port, username, password, pathname, search } = new URL(text);
  // URLSearchParams would decode a plus sign as a space.
  const parameters = new URLSearchParams(search.replaceAll('+', '%2B'));
  const names = [...parameters.keys()];
  const areKnown = names.every((name, at) => known.includes(name) && names.indexOf(name) === at);
  // An @ after the host belongs to a password with an unencoded slash.
  if (!areKnown || pathname.includes('@')) return undefined;
  try {
    const host = hostOf(decodeURI(hostname));
    const path = decoded(pathname.slice(1).split('/'));
    // Parameters are decoded here as well, because URLSearchParams accepts invalid encoding.
    const [user = '', secret = ''] = decoded([username, password, search]);
    return host === undefined
      ? undefined
      : { host, port: port === '' ? defaultPort : Number(port), user, password: secret, path, parameters };
  } catch (error) {
    // An invalid percent-encoding.
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

function decoded(parts: readonly string[]): string[] {
  return parts.map((part) => decodeURIComponent(part));
}

/** A host name for lookup: a name in DNS form (RFC 5891), or an IPv6 address without brackets; undefined if invalid. */
export function hostOf(text: string): string | undefined {
  const address = text.replace(/^\[(.*)\]$/s, '$1');
  if (isIPv6(address)) return address;
  const name = /^\p{ASCII}*$/u.test(text) ? text : domainToASCII(text);
  return /^[\w.-]+$/.test(name) ? name : undefined;
}
