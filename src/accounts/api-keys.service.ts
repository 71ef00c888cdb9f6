import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import { differences } from '../audit/audit.service.js';
import { Clock } from '../clock.js';
import { Settings } from '../config/settings.js';
import { BY_CREATION, type Page, type PageRequest, keysetPage } from '../database/keyset-page.js';
import { ApiError } from '../errors/api-error.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';
import { clientSubjectId } from '../throttling/quota-subject.js';
import { QuotaService } from '../throttling/quota.service.js';
import { ACCOUNTS_ERRORS } from './accounts.errors.js';
import { ApiKey, type IssuedKey, makeKey } from './api-key.entity.js';
import { digestOf } from './api-key.format.js';
import { type AuditedChange, AuditedChanges } from './audited-changes.js';
import { ClientsService } from './clients.service.js';
import {
  SOON_MS,
  grantableScopes,
  refuseEndOfLastKey,
  refuseEnded,
  refuseRevoked,
  refuseRotated,
  refuseScopesNotHeld,
} from './key-rules.js';
import { type Forcible, type KeyChanges, type NewKey, type Rotation, requireChange } from './key.inputs.js';
import type { Operator } from './operator.js';

/** Issues, shows, changes and ends API keys. Every change is one transaction with its line of the audit trail. */
@Injectable()
export class ApiKeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly clients: ClientsService,
    private readonly quota: QuotaService,
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

  /** A page of the keys of one client, or of all, oldest first. Throws client_not_found. */
  async list(page: PageRequest, { clientId }: { readonly clientId?: string } = {}): Promise<Page<ApiKey>> {
    const query = this.keys.createQueryBuilder('key');
    if (clientId !== undefined) {
      await this.clients.get(clientId);
      query.where('key.clientId = :clientId', { clientId });
    }
    return keysetPage(query, page, BY_CREATION);
  }

  /** The key with this id; throws key_not_found when there is none. */
  get(id: string): Promise<ApiKey> {
    return find(this.keys.manager, id);
  }

  /** The key whose secret this is; throws key_not_found, which does not repeat it. */
  async identify(secret: string): Promise<ApiKey> {
    const key = await this.keys.findOneBy({ digest: digestOf(secret) });
    if (!key) throw new ApiError(ACCOUNTS_ERRORS.key_not_found, { params: { id: 'with this secret' } });
    return key;
  }

  /**
   * Labels a key, or brings its end forward. Throws key_not_found, key_already_revoked, key_already_expired,
   * validation_failed for a later end, and last_key_with_scope unless forced.
   */
  async update(id: string, changes: KeyChanges, { force }: Forcible, by: Operator): Promise<ApiKey> {
    requireChange(changes, ['label', 'expires']);
    const { label, expires } = changes;
    return this.change(id, by, 'api_key.updated', async (key, manager) => {
      const before = { label: key.label, expiresAt: key.expiresAt };
      if (label !== undefined) key.label = label;
      if (expires !== undefined) {
        refuseEnded(key, this.instant());
        key.expiresAt = earlier(this.instant(expires), key.expiresAt);
        if (!force && expires < SOON_MS) await this.keepLastKey(manager, id);
      }
      return differences(before, { label: key.label, expiresAt: key.expiresAt });
    });
  }

  /**
   * Makes a key that follows another: a new secret with the same client, scopes and label. The old one ends after the
   * grace; without any it is revoked. Throws key_not_found, key_already_revoked, key_already_expired, key_already_rotated and
   * scope_not_held, and last_key_with_scope for a last key that would live less than a day, unless forced.
   */
  rotate(
    id: string,
    { grace, expires }: Rotation,
    by: Operator,
    { force }: Forcible = {},
  ): Promise<IssuedKey> {
    return this.changes.run(by, async (manager, record) => {
      const key = await find(manager, id);
      refuseEnded(key, this.instant());
      refuseRotated(key);
      refuseScopesNotHeld(key.scopes, by);
      if (!force && (expires ?? SOON_MS) < SOON_MS) await this.keepLastKey(manager, id);
      const { clientId, scopes, label } = key;
      const issued = this.make({ clientId, scopes, label }, expires ?? lifetimeOf(key));
      const { id: successor, prefix, expiresAt } = issued.apiKey;
      await manager.insert(ApiKey, issued.apiKey);
      const end = this.instant(grace);
      key.expiresAt = key.expiresAt !== null && key.expiresAt < end ? key.expiresAt : end;
      key.replacedBy = successor;
      // At once is for ever: an end alone would be undone by a clock that is put back.
      if (grace === 0) key.revokedAt = end;
      const details = { replacedBy: successor, prefix, expiresAt, oldExpiresAt: key.expiresAt };
      await this.save(manager, key);
      await record({ action: 'api_key.rotated', clientId, keyId: id, details });
      return issued;
    });
  }

  /** Ends a key at once. Throws key_not_found or key_already_revoked, and last_key_with_scope unless forced. */
  revoke(id: string, { force }: Forcible, by: Operator): Promise<ApiKey> {
    return this.change(id, by, 'api_key.revoked', async (key, manager) => {
      refuseRevoked(key);
      if (!force) await this.keepLastKey(manager, id);
      key.revokedAt = this.instant();
      return { prefix: key.prefix };
    });
  }

  /** Lifts the ban of a key and forgets its strikes; throws key_not_found. */
  async unban(id: string, by: Operator): Promise<ApiKey> {
    const key = await this.get(id);
    const { clientId } = key;
    // Bans are the quota store's, in Redis or with a transaction of its own.
    await this.quota.unban(id, clientSubjectId(clientId));
    await this.changes.run(by, (_, record) => record({ action: 'api_key.unbanned', clientId, keyId: id }));
    return key;
  }

  /** Both instants come from one look at the clock, so that a key lives as long as was asked for to the millisecond. */
  private make(of: Pick<ApiKey, 'clientId' | 'scopes' | 'label'>, lifetimeMs: number | undefined): IssuedKey {
    const environment = this.settings.nodeEnv === 'production' ? 'live' : 'test';
    const now = this.clock.now();
    const expiresAt = lifetimeMs === undefined ? null : new Date(now + lifetimeMs).toISOString();
    return makeKey(environment, { ...of, createdAt: new Date(now).toISOString(), expiresAt });
  }

  private change(
    id: string,
    by: Operator,
    action: AuditedChange['action'],
    apply: (key: ApiKey, manager: EntityManager) => Promise<object>,
  ): Promise<ApiKey> {
    return this.changes.run(by, async (manager, record) => {
      const key = await find(manager, id);
      const details = { ...(await apply(key, manager)) };
      await this.save(manager, key);
      await record({ action, clientId: key.clientId, keyId: id, details });
      return key;
    });
  }

  private async save(manager: EntityManager, key: ApiKey): Promise<void> {
    const { id, label, expiresAt, revokedAt, replacedBy } = key;
    await manager.update(ApiKey, { id }, { label, expiresAt, revokedAt, replacedBy });
  }

  private keepLastKey(manager: EntityManager, id: string): Promise<void> {
    return refuseEndOfLastKey(manager, this.clock.now(), (key) => key.id === id);
  }

  private instant(fromNowMs = 0): string {
    return new Date(this.clock.now() + fromNowMs).toISOString();
  }
}

async function find(manager: EntityManager, id: string): Promise<ApiKey> {
  const key = await manager.findOneBy(ApiKey, { id });
  if (!key) throw new ApiError(ACCOUNTS_ERRORS.key_not_found, { params: { id } });
  return key;
}

/** How long a key was made to live, in milliseconds; undefined without an end. */
function lifetimeOf({ createdAt, issuedUntil }: ApiKey): number | undefined {
  return issuedUntil === null ? undefined : Date.parse(issuedUntil) - Date.parse(createdAt);
}

/** The new end of a key; throws validation_failed when it is later than the old one: longer lives only a new key. */
function earlier(end: string, oldEnd: string | null): string {
  if (oldEnd === null || end <= oldEnd) return end;
  const message = `The key ends at ${oldEnd}, and its end can only be brought forward; rotate it to go on.`;
  throw new ApiError(HTTP_ERRORS.validation_failed, {
    details: [{ field: 'expires', code: 'later_than_before', message }],
  });
}
