import { createHash } from 'node:crypto';
import type { Request } from 'express';
import type { ErrorRow } from '../core/errors/define-errors.js';
import type { PlanLimits } from '../core/config/plan-table.js';
import type { Plan } from '../throttling/plans.js';

/** The user of a credential, with scopes and plan. */
export interface VerifiedCredential {
  /**
   * A unique and permanent name of the user, such as `${iss} ${sub}` of a JWT. Quotas, responses stored for an `Idempotency-Key` and
   * counts of deprecated calls belong to it. The log has the id that `clientIdOfUser()` derives from it instead.
   */
  readonly user: string;
  /** Names of scopes. Those that no feature declared grant nothing. */
  readonly scopes: readonly string[];
  readonly plan: Plan;
  /** Limits, required for the plan enterprise and ignored for others. */
  readonly limits?: PlanLimits;
}

/** The security scheme of a credential in the OpenAPI documents. */
export interface CredentialScheme {
  /** Name of the security scheme, such as `oidc`; `bearer` is the API key's. */
  readonly name: string;
  /** Form of the token, such as `JWT`. */
  readonly bearerFormat?: string;
  readonly description: string;
}

/**
 * Verifies bearer tokens that are not API keys, such as JWTs of an OIDC provider. Provide a subclass under this class in a
 * `@Global()` module: its tokens then work beside API keys, with scopes, quotas, idempotency, logs and docs. Without one, every
 * token that is not an API key is refused. An API key never reaches it: whatever has the shape of one, or begins with API_KEY_PREFIX, is taken for one.
 */
export abstract class CredentialVerifier {
  /** Its security scheme in the OpenAPI documents. */
  abstract readonly scheme: CredentialScheme;

  /** The errors that `verify` throws, with status 401 or 403; they are documented for every operation that needs a credential. */
  readonly errors: readonly ErrorRow[] = [];

  /**
   * The owner of a token; undefined for a token of another kind, which gets 401 `invalid_api_key`. It is called for every request and
   * verifies everything: signature, algorithm, expiry, issuer, audience. To refuse a token, throw an `ApiError` with status 401 or 403:
   * it counts for the address of the caller, and a `WWW-Authenticate` (RFC 6750 section 3) is added. Throw service_unavailable if the
   * token cannot be verified now, for example because the keys of the provider cannot be fetched: the request is not counted. Any other
   * error becomes a 500.
   */
  abstract verify(
    token: string,
    request: Request,
  ): VerifiedCredential | undefined | Promise<VerifiedCredential | undefined>;
}

/**
 * The id of a user: a UUID of version 8 (RFC 9562 section 5.8) from the SHA-256 of the name. Ids of clients have version 4, so that no
 * user is mistaken for a client.
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
