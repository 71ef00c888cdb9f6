/** The challenge of a response that requires a bearer credential (RFC 6750 section 3); API_REALM replaces `{realm}`. */
export const CHALLENGE = 'Bearer realm="{realm}"';
