import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Clock } from '../clock.js';
import { ApiError } from '../errors/api-error.js';
import type { ErrorRow } from '../errors/define-errors.js';
import { ApiKey } from './api-key.entity.js';
import { digestOf, isWellFormedApiKey } from './api-key.format.js';
import { AUTH_ERRORS } from './auth.errors.js';
import { CHALLENGE } from './challenge.js';
import { KeyMemory } from './key-memory.js';

/** The bearer form of RFC 6750 section 2.1; the scheme's case does not matter (RFC 9110 section 11.1). */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;
const NO_TOKEN = /^bearer *$/i;
const CHALLENGE_AFTER_CREDENTIAL = `${CHALLENGE}, error="invalid_token"`;

/** Tells from an `Authorization` header which key, and so which client, sends a request. */
@Injectable()
export class ApiKeyVerifier {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly memory: KeyMemory,
    private readonly clock: Clock,
  ) {}

  /**
   * The key of the credential, with its client. Throws missing_api_key, invalid_api_key, expired_api_key or
   * revoked_api_key; the last two only for a genuine key, so that nothing is learnt by guessing.
   */
  async verify(authorization: string | undefined): Promise<ApiKey> {
    const credential = authorization?.trim() ?? '';
    if (credential === '' || NO_TOKEN.test(credential)) throw refusal(AUTH_ERRORS.missing_api_key);
    const token = BEARER.exec(credential)?.[1];
    if (token === undefined || !isWellFormedApiKey(token)) throw refusal(AUTH_ERRORS.invalid_api_key);
    const digest = digestOf(token);
    const state = this.memory.state();
    const remembered = this.memory.recall(digest);
    if (remembered) return remembered;
    const key = await this.keys.findOne({ where: { digest }, relations: { client: true } });
    if (!key) throw refusal(AUTH_ERRORS.invalid_api_key);
    if (key.revokedAt !== null) throw refusal(AUTH_ERRORS.revoked_api_key);
    if (key.expiresAt !== null && Date.parse(key.expiresAt) <= this.clock.now()) {
      throw refusal(AUTH_ERRORS.expired_api_key, { instant: key.expiresAt });
    }
    this.memory.remember(key, state);
    return key;
  }

  /** The key of the credential if it was verified in the state that the database is in; does not ask the database. */
  recall(authorization: string | undefined): ApiKey | undefined {
    const token = BEARER.exec(authorization ?? '')?.[1];
    return token === undefined ? undefined : this.memory.recall(digestOf(token));
  }
}

function refusal(row: ErrorRow, params?: Readonly<Record<string, string>>): ApiError {
  const challenge = row === AUTH_ERRORS.missing_api_key ? CHALLENGE : CHALLENGE_AFTER_CREDENTIAL;
  return new ApiError(row, { ...(params ? { params } : {}), headers: { 'WWW-Authenticate': challenge } });
}
