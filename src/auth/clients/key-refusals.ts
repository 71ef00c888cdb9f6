import { ApiError } from '../../core/errors/api-error.js';
import { defineErrors } from '../../core/errors/define-errors.js';
import type { ApiKey } from './api-key.entity.js';
import type { Client } from './client.entity.js';
import { CHALLENGE, CHALLENGE_AFTER_CREDENTIAL } from '../../core/errors/challenge.js';

/** Refusals of a genuine key that no longer works. */
export const KEY_ERRORS = defineErrors({
  expired_api_key: {
    status: 401,
    message: 'The API key expired at {instant}.',
    example: { instant: '2026-11-20T12:00:00.000Z' },
    cause: 'The key is genuine but has expired.',
    remedy: 'Ask for a new key.',
  },
  revoked_api_key: {
    status: 401,
    message: 'The API key was revoked.',
    cause: 'The key is genuine but was revoked.',
    remedy: 'Ask for a new key.',
  },
  client_suspended: {
    status: 403,
    message: 'The client of this API key is suspended.',
    cause: 'The key is valid, but an operator has suspended its client.',
    remedy: 'Ask the operator of the service to resume the client.',
  },
});

/** Throws revoked_api_key or expired_api_key if a key has been revoked or has expired by `now`, in ms since the Unix epoch. */
export function refuseEndedCredential(
  { revokedAt, expiresAt }: Pick<ApiKey, 'revokedAt' | 'expiresAt'>,
  now: number,
): void {
  const headers = { 'WWW-Authenticate': CHALLENGE_AFTER_CREDENTIAL };
  if (revokedAt !== null) throw new ApiError(KEY_ERRORS.revoked_api_key, { headers });
  if (expiresAt !== null && Date.parse(expiresAt) <= now)
    throw new ApiError(KEY_ERRORS.expired_api_key, { params: { instant: expiresAt }, headers });
}

/** Throws client_suspended for a suspended client. */
export function refuseSuspended({ suspendedAt }: Pick<Client, 'suspendedAt'>): void {
  if (suspendedAt !== null)
    throw new ApiError(KEY_ERRORS.client_suspended, { headers: { 'WWW-Authenticate': CHALLENGE } });
}
