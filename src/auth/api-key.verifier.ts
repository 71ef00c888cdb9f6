import { Injectable } from '@nestjs/common';
import { digestOf, hasApiKeyShape, isWellFormedApiKey } from './api-key.format.js';
import { refuseEndedCredential } from './clients/key-refusals.js';
import { CHALLENGE, CHALLENGE_AFTER_CREDENTIAL } from '../core/errors/challenge.js';
import { Clock } from '../core/time/clock.js';
import { ApiError } from '../core/errors/api-error.js';
import type { ErrorRow } from '../core/errors/define-errors.js';
import { AUTH_ERRORS } from './auth.errors.js';
import { type CallersKey, KeyCache } from './clients/key-cache.js';

/** The bearer form of RFC 6750 section 2.1; the scheme is case-insensitive (RFC 9110 section 11.1). */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;
const NO_TOKEN = /^bearer *$/i;
const NAMES_BEARER = /^bearer /i;

/** The refusal of a credential with another scheme or without one, such as a bare key. */
const WITHOUT_SCHEME: ErrorRow = {
  ...AUTH_ERRORS.invalid_api_key,
  message: 'The credential does not have the scheme Bearer: send `Authorization: Bearer <API_KEY>`.',
};

/** Finds the key of an `Authorization` header, with its client. */
@Injectable()
export class ApiKeyVerifier {
  constructor(
    private readonly cache: KeyCache,
    private readonly clock: Clock,
  ) {}

  /** The key of the credential as it was last read, if it was valid then. It may have changed since, so it must not admit a request. */
  lastRead(authorization = ''): CallersKey | undefined {
    const token = BEARER.exec(authorization)?.[1];
    return token !== undefined && isWellFormedApiKey(token)
      ? this.cache.lastRead(digestOf(token))
      : undefined;
  }

  /** The cached key of the credential, if it may be used. Its checksum needs no check, because the digest is that of a valid key. */
  cached(authorization = ''): CallersKey | undefined {
    const token = BEARER.exec(authorization)?.[1];
    return token !== undefined && hasApiKeyShape(token) ? this.cache.get(digestOf(token)) : undefined;
  }

  /** The digest of the key in a credential. Throws missing_api_key, or invalid_api_key for text that cannot be a key. */
  digestIn(authorization = ''): string {
    if (authorization === '' || NO_TOKEN.test(authorization)) throw refusal(AUTH_ERRORS.missing_api_key);
    const token = BEARER.exec(authorization)?.[1];
    if (token === undefined && !NAMES_BEARER.test(authorization)) throw refusal(WITHOUT_SCHEME);
    if (token === undefined || !isWellFormedApiKey(token)) throw refusal(AUTH_ERRORS.invalid_api_key);
    return digestOf(token);
  }

  /** Whether the key of a digest was valid when it was last read within a minute. */
  isKnown(digest: string): boolean {
    return this.cache.lastRead(digest) !== undefined;
  }

  /**
   * Reads the key of a digest, with its client, from the database, and calls `onFound` with it, also if it is refused. Throws
   * invalid_api_key, service_unavailable if the database does not respond and, only if the whole key matched, so that guessing reveals
   * nothing, expired_api_key or revoked_api_key.
   */
  async find(digest: string, onFound?: (key: CallersKey) => void): Promise<CallersKey> {
    const key = await this.cache.find(digest);
    if (!key) throw refusal(AUTH_ERRORS.invalid_api_key);
    onFound?.(key);
    refuseEndedCredential(key, this.clock.now());
    return key;
  }
}

function refusal(row: ErrorRow): ApiError {
  const challenge = row === AUTH_ERRORS.missing_api_key ? CHALLENGE : CHALLENGE_AFTER_CREDENTIAL;
  return new ApiError(row, { headers: { 'WWW-Authenticate': challenge } });
}
