import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Brackets, type EntityManager, type Repository, type WhereExpressionBuilder } from 'typeorm';
import { partialPrefixOf, displayablePrefixOf } from '../api-key.format.js';
import { differences } from '../audit/audit.service.js';
import { Clock, isoOf } from '../../core/time/clock.js';
import { containing } from '../../database/dialect.js';
import { BY_CREATION, type Page, type PageRequest, keysetPage } from '../../database/keyset-page.js';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { QuotaService } from '../../throttling/quota.service.js';
import { CLIENTS_ERRORS } from './clients.errors.js';
import { ApiKey } from './api-key.entity.js';
import { type AuditedChange, AuditedChanges, type Requester } from './audited-changes.js';
import { EXPIRING, EXPIRING_MS } from './client-list.js';
import { ClientQuotas } from './client-quotas.js';
import { ClientsService } from './clients.service.js';
import { KeyLimits } from './key-limits.js';
import {
  SOON_MS,
  forceDetail,
  protectLastKey,
  refuseProtectedKey,
  refuseEnded,
  refuseRevoked,
  type Forcible,
  type KeyChanges,
  requireChange,
} from './key-rules.js';

/** Filters a list of keys. */
export interface KeyFilter {
  readonly clientId?: string | undefined;
  /** The first characters of a key, at least one after its environment, or its digest. */
  readonly key?: string | undefined;
  readonly state?: (typeof KEY_STATES)[number] | undefined;
}

/** States by which keys are listed. */
export const KEY_STATES = ['expiring'] as const;

/** Reads, changes and revokes API keys. Every change is committed in one transaction with its audit entry. */
@Injectable()
export class ApiKeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly clients: ClientsService,
    private readonly quota: QuotaService,
    private readonly quotas: ClientQuotas,
    private readonly changes: AuditedChanges,
    private readonly limits: KeyLimits,
    private readonly clock: Clock,
  ) {}

  /** A page of the matching keys with their clients, oldest first. Throws client_not_found. */
  async list(page: PageRequest, { clientId, key, state }: KeyFilter = {}): Promise<Page<ApiKey>> {
    const query = this.keys.createQueryBuilder('key').innerJoinAndSelect('key.client', 'client');
    if (clientId !== undefined) {
      await this.clients.get(clientId);
      query.where('key.clientId = :clientId', { clientId });
    }
    if (key !== undefined)
      query.andWhere(
        new Brackets((either) => void orHasPrefix(either.where('key.digest = :key', { key }), key)),
      );
    const now = this.clock.now();
    if (state !== undefined) query.andWhere(EXPIRING, { now: isoOf(now), soon: isoOf(now + EXPIRING_MS) });
    return keysetPage(query, page, BY_CREATION);
  }

  /** Keys with this id, those that begin with this text, and those whose label contains it, newest first. */
  find(text: string, limit: number): Promise<ApiKey[]> {
    const query = this.keys
      .createQueryBuilder('key')
      .where('key.id = :text', { text })
      .orWhere(...containing('key.label', text));
    return orHasPrefix(query, text).orderBy('key.createdAt', 'DESC').limit(limit).getMany();
  }

  /**
   * The key with this id and its client, read with the manager of a transaction if given. Throws the same key_not_found if it belongs to a
   * different client than the given one.
   */
  async get(id: string, { clientId }: KeyFilter = {}, manager = this.keys.manager): Promise<ApiKey> {
    const key = await manager.findOne(ApiKey, {
      where: clientId === undefined ? { id } : { id, clientId },
      relations: { client: true },
    });
    if (!key) throw new ApiError(CLIENTS_ERRORS.key_not_found, { params: { id } });
    return key;
  }

  /** Finds a key to change. Throws key_not_found and key_protected. */
  async findChangeable(id: string, by: Requester, manager: EntityManager): Promise<ApiKey> {
    const key = await this.get(id, by, manager);
    refuseProtectedKey(key, by);
    return key;
  }

  /**
   * Labels a key, or shortens its lifetime; has no effect if nothing changes. Throws key_not_found, key_protected,
   * key_change_limit_reached, key_already_revoked, key_already_expired, validation_failed for a later expiry, and last_key_with_scope
   * unless forced.
   */
  async update(id: string, changes: KeyChanges, options: Forcible, by: Requester): Promise<ApiKey> {
    requireChange(changes, ['label', 'expires']);
    const { label, expires } = changes;
    return this.limits.whileChanging(by.clientId, () =>
      this.change(
        id,
        by,
        'api_key.updated',
        async (key, manager) => {
          const before = { label: key.label, expiresAt: key.expiresAt };
          if (label !== undefined) key.label = label;
          if (expires !== undefined) {
            refuseEnded(key, this.clock.instant());
            key.expiresAt = earlier(this.clock.instant(expires), key.expiresAt);
            if (!options.force && expires < SOON_MS)
              await protectLastKey(manager, this.clock.now(), (one) => one.id === id);
          }
          return differences(before, { label: key.label, expiresAt: key.expiresAt });
        },
        options,
      ),
    );
  }

  /**
   * Revokes a key immediately and permanently, even the key that sends the request. Throws key_not_found, key_protected or
   * key_already_revoked, and last_key_with_scope unless forced.
   */
  revoke(id: string, options: Forcible, by: Requester): Promise<ApiKey> {
    return this.change(
      id,
      by,
      'api_key.revoked',
      async (key, manager) => {
        refuseRevoked(key);
        if (!options.force) await protectLastKey(manager, this.clock.now(), (one) => one.id === id);
        key.revokedAt = this.clock.instant();
        return { prefix: key.prefix };
      },
      options,
    );
  }

  /** Lifts the ban of a key and deletes its strikes; writes no audit entry if it is not banned. Throws key_not_found. */
  async unban(id: string, by: Requester): Promise<ApiKey> {
    const key = await this.get(id);
    const { clientId } = key;
    const subject = this.quotas.subjectOf(key.client);
    const { bannedUntil } = await this.quota.peek({ ...subject, keyId: id });
    // The quota store keeps bans in Redis or in a separate transaction, so the audit entry is committed first.
    if (bannedUntil !== undefined) {
      const details = { bannedUntil: isoOf(bannedUntil) };
      await this.changes.run(by, (_, record) =>
        record({ action: 'api_key.unbanned', clientId, keyId: id, details }),
      );
    }
    await this.quota.unban(id, subject.id);
    await this.keys.update({ id }, { bannedUntil: null });
    return key;
  }

  private change(
    id: string,
    by: Requester,
    action: AuditedChange['action'],
    apply: (key: ApiKey, manager: EntityManager) => Promise<object>,
    options: Forcible,
  ): Promise<ApiKey> {
    return this.changes.run(by, async (manager, record) => {
      const key = await this.findChangeable(id, by, manager);
      const details = await apply(key, manager);
      if (Object.keys(details).length === 0) return key;
      const { label, expiresAt, revokedAt } = key;
      await manager.update(ApiKey, { id }, { label, expiresAt, revokedAt });
      await record({
        action,
        clientId: key.clientId,
        keyId: id,
        details: { ...details, ...forceDetail(options) },
      });
      return key;
    });
  }
}

/** Compares characters as they are, which LIKE does not do on SQLite. */
const HAS_PREFIX = 'substr(key.prefix, 1, length(:beginning)) = :beginning';

/** Adds the keys that begin with a text to the selection. */
function orHasPrefix<Query extends WhereExpressionBuilder>(query: Query, text: string): Query {
  const partial = partialPrefixOf(text);
  if (partial === undefined) return query;
  // Only a whole prefix can be found by its index.
  const condition =
    displayablePrefixOf(`${partial}0000`) === partial ? 'key.prefix = :beginning' : HAS_PREFIX;
  return query.orWhere(condition, { beginning: partial });
}

/** The new expiry of a key. Throws validation_failed if it is later than the old one, because only a new key can live longer. */
function earlier(end: string, oldEnd: string | null): string {
  if (oldEnd === null || end <= oldEnd) return end;
  const message = `The key expires at ${oldEnd}. The expiry can only be brought forward. For a later expiry, issue a new key.`;
  throw new ApiError(HTTP_ERRORS.validation_failed, {
    details: [{ field: 'expires', code: 'later_than_before', message }],
  });
}
