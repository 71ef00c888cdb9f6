import { isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';

/** What a URL says of a server, decoded; an empty text where it says nothing. */
export interface ServerUrl {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** The texts between the slashes after the host; at least one text. */
  readonly path: readonly string[];
  readonly parameters: URLSearchParams;
}

/** What completes the allowed forms of a URL that may hold a password. */
export const ENCODED = 'in a user or password, write / as %2F, ? as %3F, # as %23, and % as %25';

/** Reads the URL of a server, which may have `known` parameters, each once; undefined for anything else. */
export function readServerUrl(
  text: string,
  defaultPort: number,
  known: readonly string[] = [],
): ServerUrl | undefined {
  // URL drops line breaks, which most often ended a file with a password. A # is one of a password, too.
  if (/[\p{Cc}#]/u.test(text) || !URL.canParse(text)) return undefined;
  const { hostname, port, username, password, pathname, search } = new URL(text);
  // URLSearchParams takes a plus sign for a space.
  const parameters = new URLSearchParams(search.replaceAll('+', '%2B'));
  const names = [...parameters.keys()];
  const areKnown = names.every((name, at) => known.includes(name) && names.indexOf(name) === at);
  // An @ after the host ends a password with a plain slash.
  if (!areKnown || pathname.includes('@')) return undefined;
  try {
    const host = hostOf(decodeURI(hostname));
    const path = decoded(pathname.slice(1).split('/'));
    // The parameters, too: URLSearchParams takes what is not encoded well as it is.
    const [user = '', word = ''] = decoded([username, password, search]);
    return host === undefined
      ? undefined
      : { host, port: port === '' ? defaultPort : Number(port), user, password: word, path, parameters };
  } catch (error) {
    // A percent sign begins no character.
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

function decoded(parts: readonly string[]): string[] {
  return parts.map((part) => decodeURIComponent(part));
}

/** A host as it is looked up: a name in its form for DNS (RFC 5891), an IPv6 address without its brackets; undefined for none. */
export function hostOf(text: string): string | undefined {
  const address = text.replace(/^\[(.*)\]$/s, '$1');
  if (isIPv6(address)) return address;
  const name = /^\p{ASCII}*$/u.test(text) ? text : domainToASCII(text);
  return /^[\w.-]+$/.test(name) ? name : undefined;
}
