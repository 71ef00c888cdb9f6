/**
 * The `Link` header of a page that another follows (RFC 8288): relative references to the next page and to the first. Of the
 * query only the parameters that `isKnown` are repeated, as they were sent: filter and limit.
 */
export function pageLinks(
  path: string,
  query: string,
  nextCursor: string,
  isKnown: (parameter: string) => boolean,
): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(query))
    if (name !== 'cursor' && isKnown(name)) parameters.append(name, value);
  const first = parameters.toString();
  parameters.set('cursor', nextCursor);
  return `<${path}?${parameters.toString()}>; rel="next", <${path}${first === '' ? '' : `?${first}`}>; rel="first"`;
}
