import { Injectable } from '@nestjs/common';
import { CLIENTS_ERRORS } from '../../auth/clients/clients.errors.js';
import type { ApiKey } from '../../auth/clients/api-key.entity.js';
import { ApiKeysService } from '../../auth/clients/api-keys.service.js';
import type { Operator } from '../../auth/clients/audited-changes.js';
import { type IssuedKey, KeyIssuingService } from '../../auth/clients/key-issuing.service.js';
import type { Forcible, KeyChanges, NewKey, Rotation } from '../../auth/clients/key-rules.js';
import { CHALLENGE, declaredScopes } from '../../auth/clients/scopes.js';
import { UsageService } from '../../auth/clients/usage.service.js';
import type { Page, PageRequest } from '../../database/keyset-page.js';
import { ApiError } from '../../core/errors/api-error.js';
import { KeyLimits } from '../../auth/clients/key-limits.js';

/** Whose keys an order is about: any client's, or those of this client alone; then others are not found. */
export interface KeysOf {
  readonly clientId?: string;
}

/**
 * What is ordered of keys over HTTP: by operators as the services of administration have it, by the holder of a key narrowed. Keys
 * of other clients are not found, protected scopes are out of reach, and no more keys are made than ACCOUNT_MAX_KEYS allows.
 */
@Injectable()
export class KeyOrders {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly issuing: KeyIssuingService,
    private readonly usage: UsageService,
    private readonly limits: KeyLimits,
  ) {}

  /** A page of keys, oldest first. Throws client_not_found. */
  list(of: KeysOf, page: PageRequest): Promise<Page<ApiKey>> {
    return this.keys.list(page, of);
  }

  /** A key. Throws key_not_found for one of another client, in the same words as for none. */
  async get({ clientId }: KeysOf, id: string): Promise<ApiKey> {
    const key = await this.keys.get(id);
    if (clientId !== undefined && key.clientId !== clientId)
      throw new ApiError(CLIENTS_ERRORS.key_not_found, { params: { id } });
    return key;
  }

  /** When the ban of a key ends, as ISO 8601 text; null when it is not banned. */
  bannedUntil(key: ApiKey): Promise<string | null> {
    return this.usage.bannedUntil(key);
  }

  /** Issues a key. Throws what KeyIssuingService and KeyLimits throw, and scope_protected. */
  async issue({ clientId }: KeysOf, order: NewKey, by: Operator): Promise<IssuedKey> {
    if (clientId === undefined) return this.issuing.issue(order, by);
    const refused = protectedScopes().filter((scope) => order.scopes?.includes(scope));
    if (refused.length > 0)
      throw new ApiError(CLIENTS_ERRORS.scope_protected, {
        params: { scopes: refused.join(', ') },
        headers: { 'WWW-Authenticate': CHALLENGE },
      });
    return this.limits.within(clientId, 1, () => this.issuing.issue({ ...order, clientId }, by));
  }

  /** Labels a key, or brings its end forward. Throws what ApiKeysService and KeyLimits throw, and key_protected. */
  async update(
    of: KeysOf,
    id: string,
    changes: KeyChanges,
    options: Forcible,
    by: Operator,
  ): Promise<ApiKey> {
    await this.requireChangeable(of, id);
    const change = () => this.keys.update(id, changes, options, by);
    return of.clientId === undefined ? change() : this.limits.changing(of.clientId, change);
  }

  /** Replaces a key by one with another secret. Throws what KeyIssuingService and KeyLimits throw, and key_protected. */
  async rotate(
    of: KeysOf,
    id: string,
    rotation: Rotation,
    options: Forcible,
    by: Operator,
  ): Promise<IssuedKey> {
    await this.requireChangeable(of, id);
    const rotate = () => this.issuing.rotate(id, rotation, by, options);
    return of.clientId === undefined ? rotate() : this.limits.within(of.clientId, 2, rotate);
  }

  /** Ends a key at once, also the one that orders it. Throws what ApiKeysService throws, and key_protected. */
  async revoke(of: KeysOf, id: string, options: Forcible, by: Operator): Promise<ApiKey> {
    await this.requireChangeable(of, id);
    return this.keys.revoke(id, options, by);
  }

  /** Neither the client nor the scopes of a key ever change, so this holds in the transaction that follows, too. */
  private async requireChangeable(of: KeysOf, id: string): Promise<void> {
    if (of.clientId === undefined) return;
    const { scopes } = await this.get(of, id);
    const scope = protectedScopes().find((one) => scopes.includes(one));
    if (scope === undefined) return;
    throw new ApiError(CLIENTS_ERRORS.key_protected, {
      params: { id, scope },
      headers: { 'WWW-Authenticate': CHALLENGE },
    });
  }
}

/** The scopes that only operators can pass on. */
function protectedScopes(): string[] {
  return declaredScopes()
    .filter(({ lastKeyProtected }) => lastKeyProtected)
    .flatMap((scope) => [scope, ...scope.includes])
    .map(({ name }) => name);
}
