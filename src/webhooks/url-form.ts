/** Why a URL is refused. */
export interface UrlFault {
  readonly code: 'malformed' | 'not_allowed';
  /** Its remedy. */
  readonly message: string;
}

/** Longest name of a host (RFC 1035 section 2.3.4). */
const MAX_NAME_LENGTH = 253;
/** A name, with underscores, which are in use, or an IPv6 address. */
const HOST = /^(?:[a-z\d_-]{1,63}(?:\.[a-z\d_-]{1,63})*|\[[a-f\d:]+\])$/;

/**
 * Why the text of a URL is refused; undefined if it is called exactly as written. The URL parser repairs a lot, so that another URL
 * than the displayed one would be called. Therefore only the normal form is accepted.
 */
export function faultOfForm(text: string): UrlFault | undefined {
  if (!URL.canParse(text))
    return malformed(
      'This must be an absolute URL with https://, a host and, optionally, a port up to 65535.',
    );
  const { protocol, username, password, hostname, port, href } = new URL(text);
  if (!/^https?:$/.test(protocol))
    return malformed('This must be an absolute URL that begins with https://.');
  if (username + password !== '')
    return refused('The URL must not contain a user name or a password; messages are signed instead.');
  if (text.includes('#')) return refused('The URL must not have a fragment.');
  if (port === '0') return malformed('The port must be a number from 1 to 65535.');
  if (hostname.length > MAX_NAME_LENGTH || !HOST.test(hostname))
    return malformed(
      'The host must be a name such as shop.example.com, without a dot at its end, or an address.',
    );
  if (href !== text && href !== `${text}/`)
    return malformed(`The URL must be written in its normal form: ${href}`);
  return undefined;
}

/** Why a URL is not allowed. */
export function refused(message: string): UrlFault {
  return { code: 'not_allowed', message };
}

function malformed(message: string): UrlFault {
  return { code: 'malformed', message };
}
