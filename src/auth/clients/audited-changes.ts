import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Actor } from '../audit/audit-entry.entity.js';
import { AuditService, type Change } from '../audit/audit.service.js';
import { Clock } from '../../core/time/clock.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { ApiError } from '../../core/errors/api-error.js';
import { DomainEvents } from '../../events/domain-events.js';
import { CLIENTS_EVENTS, type ClientsEventName } from './clients.events.js';
import { KeyCache } from './key-cache.js';
import { ApiKey } from './api-key.entity.js';
import { KEY_ERRORS, refuseEndedCredential, refuseSuspended } from './key-refusals.js';
import { CHALLENGE_AFTER_CREDENTIAL } from '../scopes.js';

/** The requester of a change to clients, keys or webhooks, or of their data: an operator, a client for itself, or the service. */
export interface Requester extends Actor {
  /** The scopes that it may grant: over HTTP those of the key, on the command line all. */
  readonly scopes: readonly string[] | 'all';
  /** The client that asks for itself. Keys of other clients are not found then, protected scopes are out of reach, and KeyLimits holds. */
  readonly clientId?: string;
}

/** The service, which creates a client and a key at its first start. */
export const SERVICE_ITSELF: Requester = {
  kind: 'service',
  keyId: null,
  from: null,
  requestId: null,
  scopes: 'all',
};

/** A change of a client or a key; its action in the audit trail is the name of the event that is published for it. */
export interface AuditedChange extends Change {
  readonly action: ClientsEventName;
  readonly clientId: string;
}

/** Records a change in the audit trail, in the transaction that makes it. */
export type RecordChange = (change: AuditedChange) => Promise<void>;

/**
 * Lock of changes to clients and keys. They run one at a time, because whether one is allowed depends on the others, such as the last
 * admin key.
 */
export const ADMINISTRATION = 'administration';

/** Commits changes and their audit entries in one transaction, and publishes their events after the commit. */
@Injectable()
export class AuditedChanges {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly events: DomainEvents,
    private readonly clock: Clock,
    private readonly keys: KeyCache,
  ) {}

  /**
   * Runs work in a transaction and returns its result; the work calls `record` for each change that it makes, and gets the end of the
   * sending key, null for none. Throws revoked_api_key, expired_api_key and client_suspended if that key has ended since its
   * request was admitted: a body may arrive long after that.
   */
  run<T>(
    by: Requester,
    work: (manager: EntityManager, record: RecordChange, end: string | null) => Promise<T>,
  ): Promise<T> {
    return this.dataSource.transaction(async (manager) => {
      this.transactions.afterCommit(() => this.keys.forget());
      await this.transactions.lock(ADMINISTRATION);
      const end = by.kind === 'key' ? await this.endOf(by.keyId, manager) : null;
      const record: RecordChange = async (change) => {
        const { action, clientId, keyId } = change;
        await this.audit.record(manager, by, change);
        this.events.publish(CLIENTS_EVENTS[action], { clientId, ...(keyId === undefined ? {} : { keyId }) });
      };
      return work(manager, record, end);
    });
  }

  private async endOf(id: string | null, manager: EntityManager): Promise<string | null> {
    const key =
      id === null ? null : await manager.findOne(ApiKey, { where: { id }, relations: { client: true } });
    // It was deleted with its client.
    if (!key)
      throw new ApiError(KEY_ERRORS.revoked_api_key, {
        headers: { 'WWW-Authenticate': CHALLENGE_AFTER_CREDENTIAL },
      });
    refuseEndedCredential(key, this.clock.now());
    refuseSuspended(key.client);
    return key.expiresAt;
  }
}
