/** Why a URL is rejected. */
export interface UrlError {
  readonly code: 'malformed' | 'not_allowed';
  /** Its remedy. */
  readonly message: string;
}

/** Maximum length of a host name (RFC 1035 section 2.3.4). */
const MAX_NAME_LENGTH = 253;
/** A name, in which underscores are allowed because they are in use, or an IPv6 address. */
const HOST = /^(?:[a-z\d_-]{1,63}(?:\.[a-z\d_-]{1,63})*|\[[a-f\d:]+\])$/;

/**
 * Why a URL is rejected; undefined if it will be called exactly as written. The URL parser corrects many errors, so that a URL other than
 * the displayed one would be called. Therefore only the normal form is accepted.
 */
export function formError(text: string): UrlError | undefined {
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

/** A reason to reject a URL. */
export function refused(message: string): UrlError {
  return { code: 'not_allowed', message };
}

function malformed(message: string): UrlError {
  return { code: 'malformed', message };
}
