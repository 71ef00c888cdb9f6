import { splitOutsideQuotes } from './media-type.js';

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
