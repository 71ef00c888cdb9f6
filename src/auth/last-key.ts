import { IsNull, Like, type EntityManager } from 'typeorm';
import { ApiError } from '../errors/api-error.js';
import { ADMINISTRATION_ERRORS } from './administration.errors.js';
import { ApiKey } from './api-key.entity.js';
import { declaredScopes } from './scopes.js';

/** A key that ends within this time, in milliseconds, is nothing to rely on. */
export const SOON_MS = 86_400_000;

/**
 * Throws last_key_with_scope when the keys that end are all that works with a protected scope. A key that was rotated, or
 * that ends within a day, does not count as one that is left. `now` is in ms since the Unix epoch.
 */
export async function refuseEndOfLastKey(
  manager: EntityManager,
  now: number,
  ends: (key: ApiKey) => boolean,
): Promise<void> {
  for (const { name: scope } of declaredScopes().filter(({ lastKeyProtected }) => lastKeyProtected)) {
    const candidates = await manager.find(ApiKey, {
      where: {
        scopes: Like(`%"${scope}"%`) as never,
        revokedAt: IsNull(),
        replacedBy: IsNull(),
        client: { suspendedAt: IsNull() },
      },
    });
    const worksAfter =
      (instant: number) =>
      ({ expiresAt }: ApiKey) =>
        expiresAt === null || Date.parse(expiresAt) > instant;
    const ending = candidates.filter(ends).filter(worksAfter(now));
    const left = candidates.filter((key) => !ends(key)).filter(worksAfter(now + SOON_MS));
    if (ending.length > 0 && left.length === 0) {
      throw new ApiError(ADMINISTRATION_ERRORS.last_key_with_scope, { params: { scope } });
    }
  }
}
