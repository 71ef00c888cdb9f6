/**
 * The `Link` header of a page that another follows (RFC 8288): relative references to the next page and to the first,
 * with the same filter and limit.
 */
export function pageLinks(target: string, nextCursor: string): string {
  const [path = ''] = target.split('?', 1);
  const parameters = new URLSearchParams(target.slice(path.length + 1));
  parameters.delete('cursor');
  const first = parameters.toString();
  parameters.set('cursor', nextCursor);
  return `<${path}?${parameters.toString()}>; rel="next", <${path}${first === '' ? '' : `?${first}`}>; rel="first"`;
}
