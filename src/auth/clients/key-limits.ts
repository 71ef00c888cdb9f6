import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, In, IsNull, MoreThan } from 'typeorm';
import { CLIENTS_ERRORS } from './clients.errors.js';
import { ApiKey } from './api-key.entity.js';
import { ADMINISTRATION, type Requester } from './audited-changes.js';
import { AuditEntry } from '../audit/audit-entry.entity.js';
import { AuditService } from '../audit/audit.service.js';
import { Clock } from '../../core/time/clock.js';
import { Settings } from '../../core/config/settings.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { ApiError } from '../../core/errors/api-error.js';
import { DAY_MS } from '../../core/time/duration.js';

/** Maximum number of changes to a client and its keys within 24 hours. Beyond that, self-service can only revoke keys. */
const MAX_CHANGES = 1_000;
/** How many of a client's latest changes are searched for keys that it created: all of a day, unless most were made by operators. */
const LATEST = 3 * MAX_CHANGES;

/** Limits of self-service for keys; they do not apply to operators. */
@Injectable()
export class KeyLimits {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /**
   * Checks, in the transaction that creates a key, whether a client may create another. Throws key_limit_reached if the client has `times`
   * × ACCOUNT_MAX_KEYS working keys (2 to rotate, because the old key still works), and new_key_limit_reached if its keys created
   * ACCOUNT_MAX_KEYS within 24 hours. Keys revoked since then count, because alternately issuing and revoking keys would otherwise fill the
   * table. Keys created by operators do not count.
   */
  async requireCapacity(times: number, { clientId }: Requester, manager: EntityManager): Promise<void> {
    if (clientId === undefined) return;
    const { accountMaxKeys } = this.settings;
    const countWorkingKeys = await workingKeys(manager, clientId, this.clock.instant());
    if (countWorkingKeys >= times * accountMaxKeys)
      throw new ApiError(CLIENTS_ERRORS.key_limit_reached, {
        params: { count: countWorkingKeys, limit: times * accountMaxKeys },
      });
    const changes = await changesBySelfService(manager, clientId, this.clock.instant(-DAY_MS));
    if (changes >= accountMaxKeys)
      throw new ApiError(CLIENTS_ERRORS.new_key_limit_reached, {
        params: { count: changes, limit: accountMaxKeys },
      });
  }

  /**
   * Makes a change in self-service. Throws key_change_limit_reached after 1,000 changes to the client and its keys within 24 hours, because
   * the audit trail stores each for a long time. Do not use it to revoke, which is possible only once per key.
   */
  whileChanging<T>(clientId: string | undefined, change: () => Promise<T>): Promise<T> {
    if (clientId === undefined) return change();
    return this.dataSource.transaction(async (manager) => {
      await this.transactions.lock(ADMINISTRATION);
      const since = this.clock.now() - DAY_MS;
      if (await this.audit.wasChanged(clientId, MAX_CHANGES, since, manager))
        throw new ApiError(CLIENTS_ERRORS.key_change_limit_reached, { params: { limit: MAX_CHANGES } });
      return change();
    });
  }
}

/** The number of keys that a client has created with its own keys since a time. */
function changesBySelfService(manager: EntityManager, clientId: string, since: string): Promise<number> {
  return manager
    .createQueryBuilder(AuditEntry, 'entry')
    .where({ actor: 'key', action: In(['api_key.issued', 'api_key.rotated']), at: MoreThan(since) })
    .andWhere('entry.actorKeyId IN (SELECT id FROM api_keys WHERE client_id = :clientId)')
    .andWhere(
      `entry.id IN (SELECT id FROM audit_entries WHERE client_id = :clientId ORDER BY id DESC LIMIT ${LATEST})`,
    )
    .setParameters({ clientId })
    .getCount();
}

function workingKeys(manager: EntityManager, clientId: string, now: string): Promise<number> {
  const notRevoked = { clientId, revokedAt: IsNull() };
  return manager.countBy(ApiKey, [
    { ...notRevoked, expiresAt: IsNull() },
    { ...notRevoked, expiresAt: MoreThan(now) },
  ]);
}
