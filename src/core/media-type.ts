/** A token (RFC 9110 section 5.6.2). */
export const TOKEN = String.raw`[\w!#$%&'*+.^\x60|~-]+`;
/** A quoted string; an unclosed one extends to the end of the text. */
const QUOTED = String.raw`"(?:[^"\\]|\\[^])*(?:"|\\?$)`;
/** The comma-separated elements of a field, ignoring commas in quoted strings. */
const ELEMENTS = new RegExp(`(?:[^",]|${QUOTED})+`, 'g');
/** The semicolon-separated parts of an element, ignoring semicolons in quoted strings. */
export const PARTS = new RegExp(`(?:[^";]|${QUOTED})+`, 'g');

/** The media type of a `Content-Type` without its parameters, in lower case; empty if there is none. */
export function mediaTypeOf(contentType = ''): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Whether a media type is JSON: `application/json`, or one with the suffix `+json` (RFC 6839 section 3.1). */
export function isJsonType(type: string): boolean {
  return type === 'application/json' || type.endsWith('+json');
}

/** Parameters (RFC 9110 section 5.6.6) whose charset, if any, is UTF-8, as RFC 8259 section 8.1 requires; many clients write `utf8`. */
const IN_UTF8 = new RegExp(
  String.raw`^(?:;[ \t]*(?:(?:charset=(?:utf-?8|"utf-?8")|(?!charset=)${TOKEN}=(?:${TOKEN}|"(?:[^"\\]|\\.)*"))[ \t]*)?)*$`,
  'i',
);

/** Whether a `Content-Type` is this JSON type in UTF-8, with any other parameters. */
export function isJsonInUtf8(contentType = '', jsonType = 'application/json'): boolean {
  if (contentType === jsonType) return true;
  const end = contentType.indexOf(';');
  return mediaTypeOf(contentType) === jsonType && (end === -1 || IN_UTF8.test(contentType.slice(end)));
}

/**
 * Whether an `Accept` accepts a media type (RFC 9110 section 12.5.1): the most specific range decides, and ranges for variants exclude
 * nothing.
 */
export function accepts(accept: string, type: string): boolean {
  if (accept === '*/*' || accept === type || accept.trim() === '') return true;
  const ranges = [type, type.replace(/[^/]*$/, '*'), '*/*'];
  let nearest = ranges.length;
  let isAccepted = false;
  for (const element of accept.match(ELEMENTS) ?? []) {
    const distance = ranges.indexOf(mediaTypeOf(element));
    if (distance === -1 || distance > nearest) continue;
    const [, ...parameters] = (element.match(PARTS) ?? []).map((part) => part.trim().toLowerCase());
    const isExcluded = parameters.some((parameter) => /^q=0+(?:\.0*)?$/.test(parameter));
    if (isExcluded && parameters.some(namesVariant)) continue;
    isAccepted = !isExcluded || (distance === nearest && isAccepted);
    nearest = distance;
  }
  return isAccepted;
}

/** Whether a range's parameter is neither its weight nor the UTF-8 charset, which every response has. */
function namesVariant(parameter: string): boolean {
  return !/^(?:q=.*|charset="?utf-?8"?|)$/.test(parameter);
}
