import { Injectable, Module } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Settings } from '../../core/config/settings.js';
import { Clock, isoOf } from '../../core/time/clock.js';
import { type Sweep, Sweeper } from '../../database/sweeper.js';
import { DAY_MS } from '../../core/time/duration.js';
import { AuditErasure } from './audit-erasure.js';
import { type Actor, AuditEntry } from './audit-entry.entity.js';
import { DeletedKey } from './deleted-key.entity.js';

/** A change to a client, a key, or another object. */
export interface Change {
  /** Such as `api_key.revoked`. */
  readonly action: string;
  /** The client that was changed, or whose key was changed; undefined for another object, which `details` identifies. */
  readonly clientId?: string;
  readonly keyId?: string;
  /** Details as JSON; never a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The time before which entries are deleted, AUDIT_RETENTION_DAYS ago. */
const beforeRetention = (now: number, { auditRetentionDays }: Settings) => ({
  // An empty text sorts before every timestamp, so nothing is deleted.
  oldest: auditRetentionDays === 0 ? '' : isoOf(now - auditRetentionDays * DAY_MS),
});

/**
 * Entries older than AUDIT_RETENTION_DAYS. Only the thousand smallest ids, which are the oldest, are searched, because an index on the time
 * would cost more than this hourly search.
 */
const PAST_ENTRIES: Sweep = {
  entity: AuditEntry,
  where: 'at < :oldest AND id IN (SELECT id FROM audit_entries ORDER BY id LIMIT 1000)',
  parameters: beforeRetention,
};
/** Deleted keys that entries no longer name. */
const PAST_KEYS: Sweep = {
  entity: DeletedKey,
  where: 'deleted_at < :oldest',
  parameters: beforeRetention,
};

/** Writes the audit trail: who changed a client, key or durable event, when, and from where. */
@Injectable()
export class AuditService {
  constructor(
    private readonly clock: Clock,
    sweeper: Sweeper,
  ) {
    sweeper.add(PAST_ENTRIES, PAST_KEYS);
  }

  /** Records a change in its transaction, so that either both are committed or neither is. */
  async record(manager: EntityManager, by: Actor, change: Change): Promise<void> {
    await manager.insert(AuditEntry, {
      at: this.clock.instant(),
      action: change.action,
      actor: by.kind,
      actorKeyId: by.keyId,
      from: by.from?.slice(0, 255) ?? null,
      requestId: by.requestId,
      clientId: change.clientId ?? null,
      keyId: change.keyId ?? null,
      details: change.details ?? {},
    });
  }

  /** Whether a client and its keys were changed at least `times` times since a time in ms since the Unix epoch. */
  async wasChanged(clientId: string, times: number, since: number, manager: EntityManager): Promise<boolean> {
    const [entry] = await manager.find(AuditEntry, {
      where: { clientId },
      order: { id: 'DESC' },
      skip: times - 1,
      take: 1,
    });
    return entry !== undefined && Date.parse(entry.at) > since;
  }
}

/** The fields that differ between two states, each with its old and new value. */
export function differences(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Record<string, { from: unknown; to: unknown }> {
  const changed = Object.keys(after).filter((field) => before[field] !== after[field]);
  return Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]));
}

/** The audit trail of changes to clients, keys and durable events. */
@Module({ providers: [AuditErasure, AuditService], exports: [AuditErasure, AuditService] })
export class AuditModule {}
