import { splitOutsideQuotes } from './quoted-lists.js';

/** One parameter: a token, and a token or a quoted string (RFC 9110 section 5.6.6). */
const PARAMETER = /^([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~-]+)|"((?:[^"\\]|\\.)*)")$/;

/**
 * Whether a `Content-Type` says that a body is JSON in UTF-8 (RFC 9110 section 8.3.1): `application/json`, whatever its
 * parameters, except for a charset that is not UTF-8 (RFC 8259 section 8.1 knows no other).
 */
export function isJsonInUtf8(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  if (contentType === 'application/json') return true;
  const [type = '', ...parameters] = splitOutsideQuotes(contentType, ';');
  if (type.trim().toLowerCase() !== 'application/json') return false;
  return parameters.every((text) => text.trim() === '' || isHarmless(text.trim()));
}

function isHarmless(parameter: string): boolean {
  const [match, name = '', token, quoted = ''] = PARAMETER.exec(parameter) ?? [];
  if (match === undefined) return false;
  const value = token ?? quoted.replace(/\\(.)/g, '$1');
  return name.toLowerCase() !== 'charset' || value.toLowerCase() === 'utf-8';
}
