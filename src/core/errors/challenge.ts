/** The challenge of a response that requires a bearer credential (RFC 6750 section 3); API_REALM replaces `{realm}`. */
export const CHALLENGE = 'Bearer realm="{realm}"';

/** The challenge for a refused token (RFC 6750 section 3.1). */
export const CHALLENGE_AFTER_CREDENTIAL = `${CHALLENGE}, error="invalid_token"`;

/** The challenge for a key that lacks scopes (RFC 6750 section 3.1). */
export function scopeChallenge(scopes: readonly string[]): string {
  return `${CHALLENGE}, error="insufficient_scope", scope="${scopes.join(' ')}"`;
}
