import { Injectable } from '@nestjs/common';
import { ACCOUNTS_ERRORS } from '../auth/clients/accounts.errors.js';
import type { ApiKey } from '../auth/clients/api-key.entity.js';
import { ApiKeysService } from '../auth/clients/api-keys.service.js';
import type { Operator } from '../auth/clients/audited-changes.js';
import { type IssuedKey, KeyIssuingService } from '../auth/clients/key-issuing.service.js';
import type { KeyChanges, NewKey, Rotation } from '../auth/clients/key-rules.js';
import { CHALLENGE, declaredScopes } from '../auth/clients/scopes.js';
import { UsageService } from '../auth/clients/usage.service.js';
import type { Page, PageRequest } from '../database/keyset-page.js';
import { ApiError } from '../core/errors/api-error.js';
import type { AccountHolder } from './account-holder.js';
import { KeyLimits } from './key-limits.js';

/**
 * The keys of one client, for its holder: the services of administration, narrowed. Keys of other clients are not found, protected
 * scopes are out of reach, and no more keys are made than ACCOUNT_MAX_KEYS allows.
 */
@Injectable()
export class OwnKeysService {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly issuing: KeyIssuingService,
    private readonly usage: UsageService,
    private readonly limits: KeyLimits,
  ) {}

  /** A page of the keys of the client, oldest first. */
  list({ clientId }: AccountHolder, page: PageRequest): Promise<Page<ApiKey>> {
    return this.keys.list(page, { clientId });
  }

  /** A key of the client. Throws key_not_found for one of another client, in the same words as for none. */
  async get({ clientId }: AccountHolder, id: string): Promise<ApiKey> {
    const key = await this.keys.get(id);
    if (key.clientId !== clientId) throw new ApiError(ACCOUNTS_ERRORS.key_not_found, { params: { id } });
    return key;
  }

  /** When the ban of a key ends, as ISO 8601 text; null when it is not banned. */
  bannedUntil(key: ApiKey): Promise<string | null> {
    return this.usage.bannedUntil(key);
  }

  /**
   * Issues a key. Throws scope_protected, scope_not_held, validation_failed for an unknown scope, key_limit_reached and
   * new_key_limit_reached.
   */
  async issue(
    { clientId }: AccountHolder,
    order: Omit<NewKey, 'clientId'>,
    by: Operator,
  ): Promise<IssuedKey> {
    const refused = protectedScopes().filter((scope) => order.scopes?.includes(scope));
    if (refused.length > 0)
      throw new ApiError(ACCOUNTS_ERRORS.scope_protected, {
        params: { scopes: refused.join(', ') },
        headers: { 'WWW-Authenticate': CHALLENGE },
      });
    return this.limits.within(clientId, 1, () => this.issuing.issue({ ...order, clientId }, by));
  }

  /**
   * Labels a key, or brings its end forward. Throws key_not_found, key_protected, key_already_revoked, key_already_expired, and
   * validation_failed for a later end, and key_change_limit_reached.
   */
  async update(holder: AccountHolder, id: string, changes: KeyChanges, by: Operator): Promise<ApiKey> {
    await this.changeable(holder, id);
    return this.limits.changing(holder.clientId, () => this.keys.update(id, changes, {}, by));
  }

  /**
   * Replaces a key by one with another secret. Throws key_not_found, key_protected, key_already_revoked, key_already_expired,
   * key_already_rotated, scope_not_held, key_limit_reached and new_key_limit_reached.
   */
  async rotate(holder: AccountHolder, id: string, rotation: Rotation, by: Operator): Promise<IssuedKey> {
    await this.changeable(holder, id);
    return this.limits.within(holder.clientId, 2, () => this.issuing.rotate(id, rotation, by));
  }

  /** Ends a key at once, also the one that orders it. Throws key_not_found, key_protected and key_already_revoked. */
  async revoke(holder: AccountHolder, id: string, by: Operator): Promise<ApiKey> {
    await this.changeable(holder, id);
    return this.keys.revoke(id, {}, by);
  }

  /** Neither the client nor the scopes of a key ever change, so this holds in the transaction that follows, too. */
  private async changeable(holder: AccountHolder, id: string): Promise<void> {
    const { scopes } = await this.get(holder, id);
    const scope = protectedScopes().find((one) => scopes.includes(one));
    if (scope === undefined) return;
    throw new ApiError(ACCOUNTS_ERRORS.key_protected, {
      params: { id, scope },
      headers: { 'WWW-Authenticate': CHALLENGE },
    });
  }
}

/** The scopes that operators alone hand on. */
function protectedScopes(): string[] {
  return declaredScopes()
    .filter(({ lastKeyProtected }) => lastKeyProtected)
    .map(({ name }) => name);
}
