import { CHALLENGE_AFTER_CREDENTIAL } from '../../core/errors/challenge.js';
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

/** The requester of a change to clients, keys or webhooks, or of their data: an operator, a client for itself, or the service. */
export interface Requester extends Actor {
  /** The scopes that it may grant: those of the key over HTTP, all on the command line. */
  readonly scopes: readonly string[] | 'all';
  /**
   * Set in self-service: the client that the request is limited to. Keys of other clients are not found, protected scopes cannot be
   * granted, and KeyLimits applies.
   */
  readonly clientId?: string;
}

/** The service itself, which creates a client and key at its first start. */
export const SERVICE_ITSELF: Requester = {
  kind: 'service',
  keyId: null,
  from: null,
  requestId: null,
  scopes: 'all',
};

/** A change to a client or key. Its action in the audit trail is the name of the event that it publishes. */
export interface AuditedChange extends Change {
  readonly action: ClientsEventName;
  readonly clientId: string;
}

/** Records a change in the audit trail, in the transaction that makes it. */
export type RecordChange = (change: AuditedChange) => Promise<void>;

/**
 * Lock of changes to clients and keys. They run one at a time, because whether one is allowed depends on the others, for example on which
 * admin key is the last.
 */
export const ADMINISTRATION = 'administration';

/** Commits changes with their audit entries in one transaction, and publishes their events after the commit. */
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
   * Runs work in a transaction and returns its result. The work calls `record` for each change, and receives the expiry of the calling key
   * (null if it does not expire). Throws revoked_api_key, expired_api_key or client_suspended if the calling key has become invalid since
   * the request was admitted, because the body may arrive long after that.
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
