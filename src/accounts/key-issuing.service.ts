import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import { Settings } from '../config/settings.js';
import { ApiKey } from './api-key.entity.js';
import { digestOf, displayablePrefixOf, generateApiKey } from './api-key.format.js';
import { ApiKeysService } from './api-keys.service.js';
import { AuditedChanges, type Operator } from './audited-changes.js';
import { ClientsService } from './clients.service.js';
import {
  SOON_MS,
  forceDetail,
  grantableScopes,
  protectLastKey,
  refuseEnded,
  refuseRotated,
  requireScopesHeld,
  type Forcible,
  type NewKey,
  type Rotation,
} from './key-rules.js';

/** A key just made, with its secret, which is not stored and so cannot be shown again. */
export interface IssuedKey {
  readonly apiKey: ApiKey;
  readonly secret: string;
}

/** Issues keys and rotates them. Every change is committed in one transaction with its audit entry. */
@Injectable()
export class KeyIssuingService {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly clients: ClientsService,
    private readonly changes: AuditedChanges,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /** Makes a key for a client. Throws client_not_found, scope_not_held, or validation_failed for an unknown scope. */
  async issue({ clientId, scopes: wanted, label = null, expires }: NewKey, by: Operator): Promise<IssuedKey> {
    const scopes = grantableScopes(wanted, by);
    const issued = this.make({ clientId, scopes, label }, expires);
    const { expiresAt } = issued.apiKey;
    await this.changes.run(by, async (manager, record) => {
      await this.clients.get(clientId, manager);
      await manager.insert(ApiKey, issued.apiKey);
      const { id: keyId, prefix } = issued.apiKey;
      const details = { prefix, scopes, label, expiresAt };
      await record({ action: 'api_key.issued', clientId, keyId, details });
    });
    return issued;
  }

  /**
   * Replaces a key by a new one with another secret and the same client, scopes and label. The old one ends after the grace
   * period; with a grace of 0 it is revoked. Throws key_not_found, key_already_revoked, key_already_expired, key_already_rotated and
   * scope_not_held, and last_key_with_scope for a last key that would live less than a day, unless forced.
   */
  rotate(id: string, { grace, expires }: Rotation, by: Operator, options: Forcible = {}): Promise<IssuedKey> {
    return this.changes.run(by, async (manager, record) => {
      const key = await this.keys.get(id, manager);
      refuseEnded(key, this.instant(0));
      refuseRotated(key);
      requireScopesHeld(key.scopes, by);
      if (!options.force && (expires ?? SOON_MS) < SOON_MS)
        await protectLastKey(manager, this.clock.now(), (one) => one.id === id);
      const { clientId, scopes, label } = key;
      const issued = this.make({ clientId, scopes, label }, expires ?? lifetimeOf(key));
      const { id: successor, prefix, expiresAt } = issued.apiKey;
      await manager.insert(ApiKey, issued.apiKey);
      const end = this.instant(grace);
      key.expiresAt = key.expiresAt !== null && key.expiresAt < end ? key.expiresAt : end;
      // A key that ends now is revoked too: an expiry alone would be undone by a clock that is set back.
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
      return issued;
    });
  }

  /** A key with a new secret; it works once its row is inserted. */
  private make(of: Pick<ApiKey, 'clientId' | 'scopes' | 'label'>, lifetimeMs: number | undefined): IssuedKey {
    const secret = generateApiKey(this.settings.nodeEnv === 'production' ? 'live' : 'test');
    // Both instants come from one reading of the clock, so that the key lives as long as was asked for to the millisecond.
    const now = this.clock.now();
    const expiresAt = lifetimeMs === undefined ? null : new Date(now + lifetimeMs).toISOString();
    const apiKey = Object.assign(new ApiKey(), {
      ...of,
      id: randomUUID(),
      digest: digestOf(secret),
      prefix: displayablePrefixOf(secret),
      createdAt: new Date(now).toISOString(),
      expiresAt,
      issuedUntil: expiresAt,
      revokedAt: null,
      lastUsedAt: null,
      replacedBy: null,
    });
    return { apiKey, secret };
  }

  private instant(fromNowMs: number): string {
    return new Date(this.clock.now() + fromNowMs).toISOString();
  }
}

/** The lifetime that a key was issued with, in milliseconds; undefined without an expiry. */
function lifetimeOf({ createdAt, issuedUntil }: ApiKey): number | undefined {
  return issuedUntil === null ? undefined : Date.parse(issuedUntil) - Date.parse(createdAt);
}
