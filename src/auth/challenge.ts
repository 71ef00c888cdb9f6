/** The challenge of a response that asks for a bearer credential (RFC 6750 section 3). */
export const CHALLENGE = 'Bearer realm="petstore"';

/** The challenge to a key that lacks scopes (RFC 6750 section 3.1). */
export function scopeChallenge(scopes: readonly string[]): string {
  return `${CHALLENGE}, error="insufficient_scope", scope="${scopes.join(' ')}"`;
}
