import { createHash } from 'node:crypto';
import type { Request } from 'express';
import type { ErrorRow } from '../core/errors/define-errors.js';
import type { PlanLimits } from '../core/config/plan-table.js';
import type { Plan } from '../throttling/plans.js';

/** The user of a credential, with scopes and plan. */
export interface VerifiedCredential {
  /**
   * A unique and permanent name of the user, such as `${iss} ${sub}` of a JWT. Quotas, stored responses for an `Idempotency-Key` and counts
   * of deprecated calls belong to it. Logs contain the id that `clientIdOfUser()` derives from it.
   */
  readonly user: string;
  /** Names of scopes. Undeclared scopes grant nothing. */
  readonly scopes: readonly string[];
  readonly plan: Plan;
  /** Limits, required for the enterprise plan and ignored for others. */
  readonly limits?: PlanLimits;
}

/** The security scheme of a credential in the OpenAPI documents. */
export interface CredentialScheme {
  /** Name of the security scheme, such as `oidc`. API keys use `bearer`. */
  readonly name: string;
  /** Format of the token, such as `JWT`. */
  readonly bearerFormat?: string;
  readonly description: string;
}

/**
 * Verifies bearer tokens that are not API keys, such as JWTs of an OIDC provider. Provide a subclass under this class in a `@Global()`
 * module. Its tokens then work in addition to API keys, with scopes, quotas, idempotency, logs and docs. Without a subclass, every other
 * token is refused. API keys never reach it, because a token that has the format of a key, or starts with API_KEY_PREFIX, is treated as a
 * key.
 */
export abstract class CredentialVerifier {
  /** Its security scheme in the OpenAPI documents. */
  abstract readonly scheme: CredentialScheme;

  /** Errors that `verify` throws, with status 401 or 403. They are documented for every operation that requires a credential. */
  readonly errors: readonly ErrorRow[] = [];

  /**
   * Verifies a token and returns its user; undefined for a token of another kind, which is refused with 401 `invalid_api_key`. It is called
   * for every request and must verify everything: signature, algorithm, expiry, issuer, audience. To refuse a token, throw an `ApiError`
   * with status 401 or 403. It counts as a failed attempt of the caller's address, and a `WWW-Authenticate` header (RFC 6750 section 3) is
   * added. Throw service_unavailable if the token cannot be verified now, for example because the provider's keys cannot be fetched. The
   * attempt is then not counted. Any other error becomes a 500.
   */
  abstract verify(
    token: string,
    request: Request,
  ): VerifiedCredential | undefined | Promise<VerifiedCredential | undefined>;
}

/**
 * The id of a user: a version 8 UUID (RFC 9562 section 5.8) from the SHA-256 of the name. Ids of clients have version 4, so that no user is
 * mistaken for a client.
 */
export function clientIdOfUser(user: string): string {
  const hex = createHash('sha256').update(user).digest('hex');
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
