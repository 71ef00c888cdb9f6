import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { type EntityManager, MoreThan } from 'typeorm';
import { AuditEntry } from './audit-entry.entity.js';
import { DeletedKey } from './deleted-key.entity.js';

const ERASED = '[erased]';
/** Details that people write: names, labels, and URLs of webhooks. */
const WRITTEN = new Set(['name', 'label', 'url']);
/** Number of entries read at a time. */
const AT_ONCE = 500;

/** Removes personal data from the audit trail of one client. The changes, their times and ids remain. */
@Injectable()
export class AuditErasure {
  /**
   * Replaces names, labels and URLs in the entries of a client, clears the addresses and request ids of changes made with its own keys, and
   * deletes the names of its keys; returns the number of its entries, 0 if there was nothing to erase.
   */
  async run(manager: EntityManager, clientId: string): Promise<number> {
    const { affected } = await manager.delete(DeletedKey, { clientId });
    let hasErased = (affected ?? 0) > 0;
    const own = await manager
      .createQueryBuilder(AuditEntry, 'entry')
      .select('entry.keyId', 'keyId')
      .distinct()
      .where('entry.clientId = :clientId AND entry.keyId IS NOT NULL', { clientId })
      .getRawMany<{ keyId: string }>();
    const ownKeys = new Set(own.map(({ keyId }) => keyId));
    let entries = 0;
    for (let page = await pageAfter(manager, clientId, 0n); page.length > 0;) {
      for (const { id, details, actorKeyId, ...origin } of page) {
        const changes = {
          ...(actorKeyId !== null && ownKeys.has(actorKeyId) ? { from: null, requestId: null } : {}),
          details: withoutNames(details),
        };
        if (isDeepStrictEqual({ ...origin, ...changes }, { ...origin, details })) continue;
        hasErased = true;
        await manager.update(AuditEntry, { id }, changes);
      }
      entries += page.length;
      page = await pageAfter(manager, clientId, page.at(-1)?.id ?? 0n);
    }
    return hasErased ? entries : 0;
  }
}

function pageAfter(manager: EntityManager, clientId: string, after: bigint): Promise<AuditEntry[]> {
  return manager.find(AuditEntry, {
    where: { clientId, id: MoreThan(after) },
    order: { id: 'ASC' },
    take: AT_ONCE,
  });
}

/** Replaces text written by people, including in the old and new values of a change. */
function withoutNames(details: object): object {
  const entries = Object.entries(details).map(([name, value]: [string, unknown]) => [
    name,
    WRITTEN.has(name) ? erased(value) : value,
  ]);
  return Object.fromEntries(entries) as object;
}

function erased(value: unknown): unknown {
  if (typeof value === 'string') return ERASED;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]: [string, unknown]) => [name, erased(one)]),
  );
}
