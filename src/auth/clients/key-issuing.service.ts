import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock, isoOf } from '../../core/time/clock.js';
import { Settings } from '../../core/config/settings.js';
import { ApiKey } from './api-key.entity.js';
import { digestOf, displayablePrefixOf, generateApiKey } from '../api-key.format.js';
import { ApiKeysService } from './api-keys.service.js';
import { AuditedChanges, type Requester } from './audited-changes.js';
import { ClientsService } from './clients.service.js';
import { KeyLimits } from './key-limits.js';
import {
  SOON_MS,
  endOf,
  forceDetail,
  grantableScopes,
  protectLastKey,
  refuseEnded,
  refuseRotated,
  requireScopesHeld,
  type Forcible,
  type Lifetime,
  type NewKey,
  type Rotation,
} from './key-rules.js';

/** A new key with its secret, which is not stored and cannot be shown again. */
export interface IssuedKey {
  /** The key, loaded with its client. */
  readonly apiKey: ApiKey;
  readonly secret: string;
}

/** The successor of a key, and when the key itself stops working. */
export interface RotatedKey extends IssuedKey {
  readonly oldExpiresAt: string;
}

/** Issues and rotates keys. Every change is committed in one transaction with its audit entry. */
@Injectable()
export class KeyIssuingService {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly clients: ClientsService,
    private readonly changes: AuditedChanges,
    private readonly limits: KeyLimits,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /**
   * Issues a key that expires no later than the calling key. Throws client_not_found, the errors of grantableScopes() and KeyLimits, and
   * validation_failed for a later expiry.
   */
  async issue(
    { scopes: requested, label = null, expires, ...options }: NewKey,
    by: Requester,
  ): Promise<IssuedKey> {
    const scopes = grantableScopes(requested, by);
    const { clientId = options.clientId } = by;
    return this.changes.run(by, async (manager, record, latest) => {
      await this.limits.requireCapacity(1, by, manager);
      const client = await this.clients.get(clientId, manager);
      const issued = this.generate({ clientId, client, scopes, label }, { expires, latest });
      await manager.insert(ApiKey, issued.apiKey);
      const { id: keyId, prefix, expiresAt } = issued.apiKey;
      const details = { prefix, scopes, label, expiresAt };
      await record({ action: 'api_key.issued', clientId, keyId, details });
      return issued;
    });
  }

  /**
   * Replaces a key with a new one that has the same client, scopes and label. The old key expires after the grace period, or is revoked if
   * that is 0. The new key expires no later than the calling key. Throws key_not_found, key_protected, the errors of KeyLimits,
   * key_already_revoked, key_already_expired, key_already_rotated, scope_not_held, validation_failed for a later expiry, and, unless
   * forced, last_key_with_scope if the new key would expire within a day and before the old key's original expiry.
   */
  rotate(
    id: string,
    { grace, expires }: Rotation,
    by: Requester,
    options: Forcible = {},
  ): Promise<RotatedKey> {
    return this.changes.run(by, async (manager, record, latest) => {
      const key = await this.keys.findChangeable(id, by, manager);
      await this.limits.requireCapacity(2, by, manager);
      refuseEnded(key, this.clock.instant());
      refuseRotated(key);
      requireScopesHeld(key.scopes, by);
      const { clientId, client, scopes, label } = key;
      const issued = this.generate(
        { clientId, client, scopes, label },
        { expires, fallback: lifetimeOf(key), latest },
      );
      const { id: successor, prefix, expiresAt } = issued.apiKey;
      if (
        !options.force &&
        expiresAt !== null &&
        expiresAt < earlier(key.expiresAt, this.clock.instant(SOON_MS))
      )
        await protectLastKey(manager, this.clock.now(), (one) => one.id === id);
      await manager.insert(ApiKey, issued.apiKey);
      const end = this.clock.instant(grace);
      key.expiresAt = earlier(key.expiresAt, end);
      // Revoked rather than expired, because setting the clock back would undo an expiry.
      if (grace === 0) key.revokedAt = end;
      const { revokedAt } = key;
      await manager.update(ApiKey, { id }, { expiresAt: key.expiresAt, revokedAt, replacedBy: successor });
      const details = {
        replacedBy: successor,
        prefix,
        expiresAt,
        oldExpiresAt: key.expiresAt,
        ...forceDetail(options),
      };
      await record({ action: 'api_key.rotated', clientId, keyId: id, details });
      return { ...issued, oldExpiresAt: key.expiresAt };
    });
  }

  /** Generates a key, which works once its row is inserted. */
  private generate(
    of: Pick<ApiKey, 'clientId' | 'client' | 'scopes' | 'label'>,
    lifetime: Lifetime,
  ): IssuedKey {
    const { apiKeyPrefix, nodeEnv } = this.settings;
    const secret = generateApiKey(nodeEnv === 'production' ? 'live' : 'test', apiKeyPrefix);
    // Both timestamps derive from one reading of the clock, so that the lifetime is exact to the millisecond.
    const now = this.clock.now();
    const expiresAt = endOf(now, lifetime);
    const apiKey = Object.assign(new ApiKey(), {
      ...of,
      id: randomUUID(),
      digest: digestOf(secret),
      prefix: displayablePrefixOf(secret),
      createdAt: isoOf(now),
      expiresAt,
      issuedUntil: expiresAt,
      revokedAt: null,
      lastUsedAt: null,
      replacedBy: null,
    });
    return { apiKey, secret };
  }
}

/** The earlier of two expiries; the first may be null. */
function earlier(end: string | null, other: string): string {
  return end !== null && end < other ? end : other;
}

/** The original lifetime of a key in milliseconds; undefined if it does not expire. */
function lifetimeOf({ createdAt, issuedUntil }: ApiKey): number | undefined {
  return issuedUntil === null ? undefined : Date.parse(issuedUntil) - Date.parse(createdAt);
}
