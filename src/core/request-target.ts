/** The scheme and authority of a target in absolute form (RFC 9112 section 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?#]+/i;
/** Unreserved characters that need no encoding (RFC 3986 section 2.3): letters, digits, hyphen, period, underscore, tilde. */
const NEEDLESSLY_ENCODED = /%(?:2[de]|3\d|[46][1-9a-f]|5[\daf]|7[\dae])/gi;

/**
 * The origin form of a request target, which is its path and query: `/v1/pets` for `http://shop.example/v1/p%65ts`. Decodes unreserved
 * characters in the path, and drops the host, which the service does not use. `*` stays `*` (RFC 9112 section 3.2). Undefined for any other
 * form.
 */
export function plainTargetOf(target: string): string | undefined {
  if (target === '*') return target;
  const [origin = ''] = ORIGIN.exec(target) ?? [];
  const rest = target.slice(origin.length);
  if (origin === '' ? !rest.startsWith('/') : !URL.canParse(origin)) return undefined;
  const [path = ''] = rest.split('?', 1);
  const plain = path.replace(NEEDLESSLY_ENCODED, (encoded) => decodeURIComponent(encoded));
  return `${plain.startsWith('/') ? '' : '/'}${plain}${rest.slice(path.length)}`;
}
