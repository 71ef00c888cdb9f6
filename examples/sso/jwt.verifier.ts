import { verify } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ApiError, Clock, CredentialVerifier, Settings, type VerifiedCredential } from 'petstore-service';
import { SSO_ERRORS } from './sso.errors.js';
import { type KeySet, SSO_SETTINGS } from './sso.settings.js';

/** Three parts in base64url. The signature of an unsigned token is empty. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;
/** Maximum difference between the clocks of the issuer and this machine, in seconds. */
const CLOCKS_DIFFER_S = 30;

/** Verifies JWTs (RFC 7519) signed with ES256, the only accepted algorithm. */
@Injectable()
export class JwtVerifier extends CredentialVerifier {
  override readonly scheme = {
    name: 'sso',
    bearerFormat: 'JWT',
    description: 'A token from the single sign-on',
  };
  override readonly errors = Object.values(SSO_ERRORS);
  private readonly issuer: string;
  private readonly audience: string;
  private readonly keys: KeySet;

  constructor(
    settings: Settings,
    private readonly clock: Clock,
  ) {
    super();
    const { issuer, audience, keySet } = settings.of(SSO_SETTINGS);
    this.issuer = issuer;
    this.audience = audience;
    this.keys = keySet ?? new Map();
  }

  /** The user of a token; undefined for text that does not have the form of a JWT. */
  verify(token: string): VerifiedCredential | undefined {
    if (!JWT.test(token)) return undefined;
    const [head = '', body = '', signature = ''] = token.split('.');
    const { alg, kid, crit } = objectIn(head);
    const key = this.keys.get(kid);
    if (alg !== 'ES256' || crit !== undefined || !key) throw invalid();
    const signed = Buffer.from(`${head}.${body}`);
    const isGenuine = verify(
      'sha256',
      signed,
      { key, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
    if (!isGenuine) throw invalid();
    return this.credentialOf(objectIn(body));
  }

  private credentialOf(claims: Claims): VerifiedCredential {
    const { iss, aud, sub, exp, nbf = 0, scope = '', plan } = claims;
    const now = this.clock.now() / 1_000;
    const isForUs = iss === this.issuer && [aud].flat().includes(this.audience);
    if (!isForUs || typeof sub !== 'string' || typeof exp !== 'number' || typeof scope !== 'string')
      throw invalid();
    if (typeof nbf !== 'number' || nbf > now + CLOCKS_DIFFER_S) throw invalid();
    if (exp <= now - CLOCKS_DIFFER_S) throw new ApiError(SSO_ERRORS.expired_token);
    return {
      user: `${iss} ${sub}`,
      scopes: scope.split(' '),
      plan: plan === 'pro' || plan === 'business' ? plan : 'free',
    };
  }
}

type Claims = Readonly<Record<string, unknown>>;

/** The JSON object of one part of a token. */
function objectIn(part: string): Claims {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    if (typeof value === 'object' && value !== null) return value as Claims;
  } catch {
    // Refused below.
  }
  throw invalid();
}

function invalid(): ApiError {
  return new ApiError(SSO_ERRORS.invalid_token);
}
