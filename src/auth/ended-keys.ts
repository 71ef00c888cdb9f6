import { ApiError } from '../errors/api-error.js';
import { ADMINISTRATION_ERRORS } from './administration.errors.js';
import type { ApiKey } from './api-key.entity.js';

/** Throws key_already_revoked for a key that was revoked. */
export function refuseRevoked({ id, revokedAt }: ApiKey): void {
  if (revokedAt === null) return;
  throw new ApiError(ADMINISTRATION_ERRORS.key_already_revoked, { params: { id, instant: revokedAt } });
}

/** Throws key_already_revoked or key_already_expired for a key that no longer works; `now` as ISO 8601 text. */
export function refuseEnded(key: ApiKey, now: string): void {
  refuseRevoked(key);
  const { id, expiresAt } = key;
  if (expiresAt === null || expiresAt > now) return;
  throw new ApiError(ADMINISTRATION_ERRORS.key_already_expired, { params: { id, instant: expiresAt } });
}

/** Throws key_already_rotated for a key that another one follows. */
export function refuseRotated({ id, replacedBy }: ApiKey): void {
  if (replacedBy === null) return;
  throw new ApiError(ADMINISTRATION_ERRORS.key_already_rotated, { params: { id, successor: replacedBy } });
}
