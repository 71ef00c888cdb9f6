import { ApiError } from '../errors/api-error.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';
import { ADMINISTRATION_ERRORS } from './administration.errors.js';
import { scopeChallenge } from './challenge.js';
import type { Operator } from './operator.js';
import { declaredScopes } from './scopes.js';

/**
 * The scopes that a new key gets, in alphabetical order: those wanted, else those granted by default. Throws
 * validation_failed for an unknown scope or none, and scope_not_held for one that the operator lacks.
 */
export function grantableScopes(wanted: readonly string[] | undefined, by: Operator): string[] {
  const scopes = wanted ?? byDefault();
  const known = declaredScopes().map(({ name }) => name);
  const details = scopes
    .filter((scope) => !known.includes(scope))
    .map((scope) => faultOf(`There is no scope "${scope}"; there are ${known.join(', ')}.`, 'unknown_scope'));
  if (scopes.length === 0) details.push(faultOf('A key needs at least one scope.', 'required'));
  if (details.length > 0) throw new ApiError(HTTP_ERRORS.validation_failed, { details });
  refuseScopesNotHeld(scopes, by);
  return [...new Set(scopes)].toSorted();
}

/** Throws scope_not_held when a key orders a key with a scope that it lacks (RFC 6750 section 3.1). */
export function refuseScopesNotHeld(scopes: readonly string[], { scopes: held }: Operator): void {
  if (held === 'all') return;
  const lacking = scopes.filter((scope) => !held.includes(scope));
  if (lacking.length === 0) return;
  throw new ApiError(ADMINISTRATION_ERRORS.scope_not_held, {
    params: { scopes: lacking.join(', ') },
    headers: { 'WWW-Authenticate': scopeChallenge(lacking) },
  });
}

function byDefault(): string[] {
  return declaredScopes()
    .filter(({ grantedByDefault }) => grantedByDefault)
    .map(({ name }) => name);
}

function faultOf(message: string, code: string) {
  return { field: 'scopes', code, message };
}
