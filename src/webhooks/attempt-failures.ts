import { RESPONSE_TOO_LARGE } from './bounded-connections.js';
import { AddressRefused } from './webhook-addresses.js';

const TOO_LARGE = 'The host sent more data than expected for a response to a message.';

/** By error code of Node or OpenSSL. */
const FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The host refuses connections on this port.',
  ECONNRESET: 'The connection was closed without a response.',
  ETIMEDOUT: 'The host does not respond.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The network of the host cannot be reached.',
  [RESPONSE_TOO_LARGE]: TOO_LARGE,
  HPE_HEADER_OVERFLOW: TOO_LARGE,
  EPROTO: 'The host does not support TLS on this port, or supports no TLS version that the service accepts.',
  CERT_HAS_EXPIRED: 'The certificate of the host has expired.',
  CERT_NOT_YET_VALID: 'The certificate of the host is not valid yet.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate of the host is self-signed.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate of the host is from an unknown authority.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate of the host is from an unknown authority.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'The certificate of the host lacks an intermediate certificate, or is from an unknown authority.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the host is for another name.',
};

/** Why an attempt got no response, for the owner of the endpoint. */
export function failureOf(error: unknown): string {
  if (error instanceof AddressRefused) return error.message;
  const { code = '' } = error as NodeJS.ErrnoException;
  // Codes of Node's HTTP parser name its rules, which do not help the owner.
  if (code.startsWith('HPE_')) return FAILURES[code] ?? 'The host sent an invalid HTTP/1.1 response.';
  return FAILURES[code] ?? (code === '' ? 'The connection failed.' : `The connection failed: ${code}.`);
}
