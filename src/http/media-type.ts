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

/** The media type of a `Content-Type` without its parameters, in lower case; empty without one. */
export function mediaTypeOf(contentType = ''): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Whether a media type is JSON: `application/json`, or one with the suffix `+json` (RFC 6839 section 3.1). */
export function isJsonType(type: string): boolean {
  return type === 'application/json' || type.endsWith('+json');
}

/**
 * Whether a `Content-Type` says that a body is JSON in UTF-8 (RFC 9110 section 8.3.1): `application/json`, or another type of
 * JSON if one is given, with any parameters. If there is a charset, it must be UTF-8, the only one that RFC 8259 section 8.1
 * allows.
 */
export function isJsonInUtf8(contentType: string | undefined, jsonType = 'application/json'): boolean {
  if (contentType === undefined) return false;
  if (contentType === jsonType) return true;
  const [type = '', ...parameters] = splitOutsideQuotes(contentType, ';');
  if (type.trim().toLowerCase() !== jsonType) return false;
  return parameters.every((text) => text.trim() === '' || isHarmless(text.trim()));
}

function isHarmless(parameter: string): boolean {
  const [match, name = '', token, quoted = ''] = PARAMETER.exec(parameter) ?? [];
  if (match === undefined) return false;
  const value = token ?? quoted.replace(/\\(.)/g, '$1');
  return name.toLowerCase() !== 'charset' || value.toLowerCase() === 'utf-8';
}

/** A weight of 0, also with more digits than RFC 9110 section 12.4.2 allows. */
const ZERO = /^0+(?:\.0*)?$/;

/**
 * Whether an `Accept` field accepts a media type (RFC 9110 section 12.5.1). The most specific range decides: the type itself,
 * then `application/*`, then the range of all types; a weight of 0 excludes the type. A range with parameters asks for a
 * variant of the type. The service has no variants, so such a range can accept the type, but not exclude it. An empty field
 * accepts every type. Reads the field in one pass.
 */
export function accepts(accept: string, type: string): boolean {
  if (accept === '*/*' || accept === type) return true;
  let nearest = Specificity.NONE;
  let isTaken = accept.trim() === '';
  for (const element of splitOutsideQuotes(accept, ',')) {
    const specificity = specificityOf(element, type);
    if (specificity === Specificity.NONE || specificity < nearest) continue;
    const isExcluded = weighsNothing(element);
    // Excludes a variant that the service does not have, so the type itself is still accepted.
    if (isExcluded && hasParameters(element)) continue;
    isTaken = !isExcluded || (specificity === nearest && isTaken);
    nearest = specificity;
  }
  return isTaken;
}

enum Specificity {
  NONE,
  ALL,
  FAMILY,
  TYPE,
}

function specificityOf(element: string, type: string): Specificity {
  const end = element.indexOf(';');
  const range = (end === -1 ? element : element.slice(0, end)).trim().toLowerCase();
  if (range === type) return Specificity.TYPE;
  if (range === '*/*') return Specificity.ALL;
  const isFamily = range.endsWith('/*') && type.startsWith(range.slice(0, -1));
  return isFamily ? Specificity.FAMILY : Specificity.NONE;
}

/** Whether a range has parameters other than its weight and the charset UTF-8, in which every answer is sent. */
function hasParameters(element: string): boolean {
  return splitOutsideQuotes(element, ';')
    .slice(1)
    .some((parameter) => !/^\s*(?:q=.*|charset="?utf-8"?\s*|)$/i.test(parameter));
}

function weighsNothing(element: string): boolean {
  for (const parameter of splitOutsideQuotes(element, ';').slice(1)) {
    const text = parameter.trim();
    if (text.slice(0, 2).toLowerCase() === 'q=') return ZERO.test(text.slice(2));
  }
  return false;
}
