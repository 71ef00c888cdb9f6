import { isIPv6 } from 'node:net';

/** Why an endpoint may not have a URL. */
export interface UrlFault {
  readonly code: 'malformed' | 'not_allowed';
  /** For people, what to do about it. */
  readonly message: string;
}

const MALFORMED = {
  scheme: 'This must be an absolute URL that begins with https://.',
  characters: 'This must hold no spaces, and names in other letters in Punycode.',
  backslash: 'This must hold no backslash: write / or %5C.',
  port: 'The port must be a number from 1 to 65535, without zeros in front; leave it out with its colon for the usual one.',
  host: 'The host must be a name such as shop.example.com, without a dot at its end, or an address.',
};

/** RFC 1035 section 2.3.4; underscores are in use, although no host should have one. */
const LONGEST_NAME = 253;
const NAME = /^[a-z\d_-]{1,63}(?:\.[a-z\d_-]{1,63})*$/i;
const PORT = /^[1-9]\d{0,4}$/;

/**
 * What is wrong with the text of a URL; undefined for one that is called as it is written. The parser of URLs mends a lot: it drops
 * line breaks and empty users, takes backslashes for slashes and numbers for addresses. What is shown would be another text than what
 * is called.
 */
export function faultOfForm(text: string): UrlFault | undefined {
  const [, authority, rest] = /^https?:\/\/([^/?#\\]*)(.*)$/is.exec(text) ?? [];
  if (authority === undefined) return malformed('scheme');
  if (!/^[\x21-\x7e]*$/.test(text)) return malformed('characters');
  if (text.includes('\\')) return malformed('backslash');
  if (authority.includes('@'))
    return refused('The URL must not hold a user name or a password; messages are signed instead.');
  if (rest?.includes('#')) return refused('The URL must not have a fragment.');
  const [, host = '', , port] = /^(\[[^\]]*\]?|[^:]*)(:(.*))?$/.exec(authority) ?? [];
  if (port !== undefined && !(PORT.test(port) && Number(port) <= 65_535)) return malformed('port');
  if (!URL.canParse(text)) return malformed('host');
  return faultOfHost(host, new URL(text).hostname);
}

/** A fault for what the service does not send to. */
export function refused(message: string): UrlFault {
  return { code: 'not_allowed', message };
}

/** `read` is what the parser made of it. An IPv6 address has many notations, each of which means it alone. */
function faultOfHost(written: string, read: string): UrlFault | undefined {
  const [, address] = /^\[(.*)\]$/.exec(written) ?? [];
  if (address !== undefined) return isIPv6(address) ? undefined : malformed('host');
  if (/^[\d.]+$/.test(read) && written !== read)
    return { code: 'malformed', message: `The host must be written as the address that it is: ${read}.` };
  const isName = written.length <= LONGEST_NAME && NAME.test(written);
  return isName && written.toLowerCase() === read ? undefined : malformed('host');
}

function malformed(what: keyof typeof MALFORMED): UrlFault {
  return { code: 'malformed', message: MALFORMED[what] };
}
