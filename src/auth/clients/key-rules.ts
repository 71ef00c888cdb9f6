import { type EntityManager, IsNull, Like } from 'typeorm';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { isoOf } from '../../core/time/clock.js';
import { DAY_MS } from '../../core/time/duration.js';
import { CLIENTS_ERRORS } from './clients.errors.js';
import { ApiKey } from './api-key.entity.js';
import type { Requester } from './audited-changes.js';
import { CHALLENGE, scopeChallenge } from '../../core/errors/challenge.js';
import { declaredScopes, isHeld } from '../scopes.js';

export interface NewKey {
  readonly clientId: string;
  /** Default: the default scopes that the requester has. */
  readonly scopes?: readonly string[];
  readonly label?: string | null;
  /** Lifetime in milliseconds; by default, the key expires with the calling key, if that expires. */
  readonly expires?: number;
}

/** The fields of a key that can be changed. */
export interface KeyChanges {
  /** Null removes the label. */
  readonly label?: string | null;
  /** Remaining lifetime in milliseconds; it can only be shortened. */
  readonly expires?: number;
}

/** Parameters of a rotation. */
export interface Rotation {
  /** How long the old key still works, in milliseconds, at most until its own expiry. */
  readonly grace: number;
  /** Lifetime of the new key in milliseconds; default: the old key's original lifetime, limited by the calling key. */
  readonly expires?: number;
}

/** Lifetime of a new key. */
export interface Lifetime {
  /** The requested lifetime in milliseconds. */
  readonly expires: number | undefined;
  /** The default lifetime in milliseconds; undefined for no expiry. */
  readonly fallback?: number | undefined;
  /** The expiry of the calling key; null if it does not expire. */
  readonly latest: string | null;
}

/** The expiry of a key that is created `now`. Throws validation_failed if the requested expiry is too late. */
export function endOf(now: number, { expires, fallback, latest }: Lifetime): string | null {
  const lifetime = expires ?? fallback;
  const end = lifetime === undefined ? null : isoOf(now + lifetime);
  if (latest === null || (end !== null && end <= latest)) return end;
  if (expires === undefined) return latest;
  const message = `The calling key expires at ${latest} and cannot create a key that expires later. Omit this field for the same expiry.`;
  throw new ApiError(HTTP_ERRORS.validation_failed, {
    details: [{ field: 'expires', code: 'later_than_own_end', message }],
  });
}

/** `force` makes a change even if it invalidates the last key with a protected scope. */
export interface Forcible {
  readonly force?: boolean;
}

/** The `force` detail of an audit entry; empty if not given. */
export function forceDetail({ force }: Forcible): { readonly force?: true } {
  return force === true ? { force } : {};
}

/** Schema properties of such changes. */
export const ONE_CHANGE = { minProperties: 1 } as const;

/** Throws validation_failed if none of the changeable fields is given, because an empty change is a mistake. */
export function requireChange<T extends object>(changes: T, fields: readonly (keyof T & string)[]): void {
  if (fields.some((field) => changes[field] !== undefined)) return;
  const message = `Name at least one change: ${fields.join(', ')}.`;
  throw new ApiError(HTTP_ERRORS.validation_failed, { details: [{ field: '', code: 'required', message }] });
}

/** A key that expires within this time, in milliseconds, does not keep a protected scope usable. */
export const SOON_MS = DAY_MS;

/**
 * Throws last_key_with_scope if the keys for which `ends` is true are the last working ones with a protected scope. A rotated key, or one
 * that expires within a day, does not count as remaining. `now` is in ms since the Unix epoch.
 */
export async function protectLastKey(
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
    const endDate = candidates.filter(ends).filter(worksAfter(now));
    const left = candidates.filter((key) => !ends(key)).filter(worksAfter(now + SOON_MS));
    if (endDate.length > 0 && left.length === 0) {
      throw new ApiError(CLIENTS_ERRORS.last_key_with_scope, { params: { scope } });
    }
  }
}

/** Throws key_already_revoked for a revoked key. */
export function refuseRevoked({ id, revokedAt }: ApiKey): void {
  if (revokedAt === null) return;
  throw new ApiError(CLIENTS_ERRORS.key_already_revoked, { params: { id, instant: revokedAt } });
}

/** Throws key_already_revoked or key_already_expired for a key that no longer works; `now` is ISO 8601 text. */
export function refuseEnded(key: ApiKey, now: string): void {
  refuseRevoked(key);
  const { id, expiresAt } = key;
  if (expiresAt === null || expiresAt > now) return;
  throw new ApiError(CLIENTS_ERRORS.key_already_expired, { params: { id, instant: expiresAt } });
}

/** Throws key_already_rotated for a key that was replaced by rotation. */
export function refuseRotated({ id, replacedBy }: ApiKey): void {
  if (replacedBy === null) return;
  throw new ApiError(CLIENTS_ERRORS.key_already_rotated, { params: { id, successor: replacedBy } });
}

/** In self-service, throws key_protected for a key with a protected scope. */
export function refuseProtectedKey({ id, scopes }: ApiKey, { clientId }: Requester): void {
  const scope = clientId === undefined ? undefined : protectedScopes().find((one) => scopes.includes(one));
  if (scope === undefined) return;
  throw new ApiError(CLIENTS_ERRORS.key_protected, {
    params: { id, scope },
    headers: { 'WWW-Authenticate': CHALLENGE },
  });
}

/** The scopes that only operators can grant. */
function protectedScopes(): string[] {
  return declaredScopes()
    .filter(({ lastKeyProtected }) => lastKeyProtected)
    .flatMap((scope) => [scope, ...scope.includes])
    .map(({ name }) => name);
}

/**
 * The scopes of a new key, in alphabetical order: the requested scopes or, by default, the default scopes that the requester has. A
 * service without such scopes issues keys without any. Throws validation_failed for an unknown scope or an empty list, scope_not_held if
 * the requester lacks a requested scope or all of the default ones, and scope_protected for a protected one in self-service.
 */
export function grantableScopes(requested: readonly string[] | undefined, by: Requester): string[] {
  const refused =
    by.clientId === undefined ? [] : protectedScopes().filter((scope) => requested?.includes(scope));
  if (refused.length > 0)
    throw new ApiError(CLIENTS_ERRORS.scope_protected, {
      params: { scopes: refused.join(', ') },
      headers: { 'WWW-Authenticate': CHALLENGE },
    });
  const scopes = requested ?? byDefault(by);
  const known = declaredScopes().map(({ name }) => name);
  const details = scopes
    .filter((scope) => !known.includes(scope))
    .map((scope) =>
      errorOf(`There is no scope "${scope}". The scopes are ${known.join(', ')}.`, 'unknown_scope'),
    );
  if (requested?.length === 0) details.push(errorOf('A key needs at least one scope.', 'required'));
  if (details.length > 0) throw new ApiError(HTTP_ERRORS.validation_failed, { details });
  requireScopesHeld(scopes, by);
  return [...new Set(scopes)].toSorted();
}

/** Throws scope_not_held if the requester lacks a scope that the key would grant (RFC 6750 section 3.1). */
export function requireScopesHeld(scopes: readonly string[], { scopes: held }: Requester): void {
  if (held === 'all') return;
  const lacking = scopes.filter((scope) => !isHeld(scope, held));
  if (lacking.length === 0) return;
  throw new ApiError(CLIENTS_ERRORS.scope_not_held, {
    params: { scopes: lacking.join(', ') },
    headers: { 'WWW-Authenticate': scopeChallenge(lacking) },
  });
}

/**
 * A feature that is deployed later declares scopes that older keys lack. By default they are omitted, so that an older key can still issue
 * keys without naming scopes.
 */
function byDefault({ scopes: held, clientId }: Requester): string[] {
  const granted = clientId === undefined ? [] : protectedScopes();
  const all = declaredScopes()
    .filter(({ name, grantedByDefault }) => grantedByDefault && !granted.includes(name))
    .map(({ name }) => name);
  if (held === 'all') return all;
  const grantable = all.filter((scope) => isHeld(scope, held));
  // If none are left, the refusal names the scopes that the requester lacks.
  return grantable.length > 0 ? grantable : all;
}

function errorOf(message: string, code: string) {
  return { field: 'scopes', code, message };
}
