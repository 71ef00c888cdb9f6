/**
 * Splits a header field at each separator that is outside of a quoted string (RFC 9110 section 5.6.4), in one pass. A quoted
 * string that is not closed extends to the end of the text.
 */
export function splitOutsideQuotes(text: string, separator: ',' | ';'): string[] {
  if (!text.includes('"')) return text.split(separator);
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') isQuoted = !isQuoted;
    else if (character === '\\' && isQuoted) at += 1;
    else if (character === separator && !isQuoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** One parameter: a name, and a value that is a token or a quoted string (RFC 9110 section 5.6.6). */
const PARAMETER = /^([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~-]+)|"((?:[^"\\]|\\.)*)")$/;

/**
 * Whether a `Content-Type` says that a body is JSON in UTF-8 (RFC 9110 section 8.3.1): `application/json` with any parameters.
 * If there is a charset, it must be UTF-8, the only one that RFC 8259 section 8.1 allows.
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
