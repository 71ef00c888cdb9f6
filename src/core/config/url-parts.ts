import { isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';

/** What is to be done about a special character in a part of a URL, in words that follow what is wrong. */
export const ENCODE =
  'write special characters there percent-encoded: % as %25, @ as %40, : as %3A, / as %2F, ? as %3F, # as %23';

/** A URL is refused; the message names the part that is wrong, and shows nothing of the text: any part of it may be one of a password. */
export class UrlFault extends Error {}

/** One address of a server. */
export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** The parts of a URL as they are written (RFC 3986 section 3); undefined where the character before one is missing. */
export interface UrlParts {
  /** The text before the last @ of the authority. */
  readonly credentials: string | undefined;
  readonly hosts: string;
  /** With its leading slash. */
  readonly path: string;
  readonly query: string | undefined;
  readonly fragment: string | undefined;
}

/** What `read` answers; undefined where it throws UrlFault. */
export function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof UrlFault) return undefined;
    throw error;
  }
}

/** The message of the UrlFault that `read` throws; empty where it throws none. */
export function faultOf(read: () => unknown): string {
  try {
    read();
    return '';
  } catch (error) {
    if (error instanceof UrlFault) return error.message;
    throw error;
  }
}

/**
 * Throws UrlFault for a text with a line break or another control character, which parsers of URLs drop in silence, and which is in no
 * password that somebody chose: most often it ended the file that the password came from.
 */
export function refuseControls(text: string): void {
  if (/\p{Cc}/u.test(text))
    throw new UrlFault(
      'it has a line break or another control character, as at the end of a file with a password; take it out',
    );
}

/** The parts of what follows the scheme and its two slashes. */
export function partsOf(text: string): UrlParts {
  const [, authority = '', path = '', query, fragment] =
    /^([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(text) ?? [];
  const at = authority.lastIndexOf('@');
  return {
    credentials: at < 0 ? undefined : authority.slice(0, at),
    hosts: authority.slice(at + 1),
    path,
    query,
    fragment,
  };
}

/** A part of a URL with its percent-encoding undone. Throws UrlFault, with the name of the part, where a percent sign begins no character. */
export function decoded(part: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new UrlFault(`${part} has a % that begins no character; ${ENCODE}`);
  }
}

/** User and password; the password is undefined where no colon is. Throws UrlFault. */
export function readCredentials(text: string): { user: string; password: string | undefined } {
  const [, user = '', password] = /^([^:]*)(?::(.*))?$/s.exec(text) ?? [];
  const read = (part: string): string => decoded('the user or the password', part);
  return { user: read(user), password: password === undefined ? undefined : read(password) };
}

/**
 * The parameters behind the question mark, where a plus sign is one (URLSearchParams would take it for a space). Throws UrlFault for one
 * that is not `known`, or that stands there twice.
 */
export function readParameters(query: string, known: readonly string[]): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const parameter of query.split('&').filter((one) => one !== '')) {
    const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(parameter) ?? [];
    if (!known.includes(name))
      throw new UrlFault(`behind the ? may stand ${known.join(' and ')}, each once, and nothing else`);
    if (parameters.has(name)) throw new UrlFault('a parameter behind the ? stands there twice');
    parameters.set(name, decoded('a parameter behind the ?', value));
  }
  return parameters;
}

/**
 * A host with or without a port. Throws UrlFault; `several` says what to do about several with commas between them, `elsewhere` what a
 * port that is none may be.
 */
export function readHost(
  text: string,
  defaultPort: number,
  { several, elsewhere }: { readonly several: string; readonly elsewhere: string },
): HostAndPort {
  if (isIPv6(text)) throw new UrlFault('the host is an IPv6 address, which stands in brackets, as in [::1]');
  const [, name = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text) ?? [];
  if (text.includes(',')) throw new UrlFault(several);
  if (name === '') throw new UrlFault('the host is missing');
  if (port !== '' && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535))
    throw new UrlFault(`the port is no number up to 65535, ${elsewhere}`);
  const host = hostOf(name);
  if (host === undefined) throw new UrlFault('the host is no name and no address');
  return { host, port: port === '' ? defaultPort : Number(port) };
}

/** A host as it is looked up: a name with other letters in its form for DNS (RFC 5891), an IPv6 address without its brackets; undefined for none. */
export function hostOf(text: string): string | undefined {
  const [, address] = /^\[(.*)\]$/s.exec(text) ?? [];
  if (address !== undefined) return isIPv6(address) ? address : undefined;
  const name = /^\p{ASCII}*$/u.test(text) ? text : domainToASCII(text);
  return /^[\w.-]+$/.test(name) ? name : undefined;
}
