import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, type Repository } from 'typeorm';
import { differences } from '../audit/audit.service.js';
import { KEEP_DELETED } from '../audit/deleted-key.entity.js';
import { Clock } from '../../core/time/clock.js';
import type { Page, PageRequest } from '../../database/keyset-page.js';
import { runForRows } from '../../database/rows-as-json.js';
import { type Sweep, Sweeper } from '../../database/sweeper.js';
import { ApiError } from '../../core/errors/api-error.js';
import type { PlanLimits } from '../../core/config/plan-table.js';
import type { Plan } from '../../throttling/plans.js';
import { CLIENTS_ERRORS } from './clients.errors.js';
import type { ClientsEventName } from './clients.events.js';
import { AuditedChanges, type RecordChange, type Requester } from './audited-changes.js';
import { ClientQuotas } from './client-quotas.js';
import { type ClientFilter, clientPage } from './client-list.js';
import { Client, planColumns } from './client.entity.js';
import { forceDetail, protectLastKey, type Forcible, requireChange } from './key-rules.js';

/** A new client. Limits are only for the enterprise plan. */
export interface NewClient extends Partial<PlanLimits> {
  readonly name: string;
  readonly plan: Plan;
}

/** Creates and changes clients. Every change is committed in one transaction with its audit entry. */
@Injectable()
export class ClientsService {
  private readonly logs: ((clientId: string) => Sweep)[] = [];

  constructor(
    @InjectRepository(Client) private readonly clients: Repository<Client>,
    private readonly changes: AuditedChanges,
    private readonly quotas: ClientQuotas,
    private readonly sweeper: Sweeper,
    private readonly clock: Clock,
  ) {}

  /**
   * Registers a log whose rows are deleted in batches before their client is. Deleting millions of rows at once would block all other
   * writers.
   */
  registerLog(log: (clientId: string) => Sweep): void {
    this.logs.push(log);
  }

  /** Creates a client. Throws validation_failed if the plan does not allow these limits. */
  async create(input: NewClient, by: Requester): Promise<Client> {
    const { name, plan } = input;
    const client = this.clients.create({
      id: randomUUID(),
      name,
      plan,
      ...planColumns(plan, input),
      createdAt: this.clock.instant(),
      suspendedAt: null,
    });
    await this.changes.run(by, async (manager, record) => {
      await manager.insert(Client, client);
      const details = { name, plan, ...this.limitsOf(client) };
      await record({ action: 'client.created', clientId: client.id, details });
    });
    return client;
  }

  /** A page of the matching clients, oldest first by default, and their total number. */
  list(page: PageRequest, filter: ClientFilter = {}): Promise<Page<Client>> {
    return clientPage(this.clients.manager, page, filter, this.clock.now());
  }

  /** The clients with these ids that exist. */
  withIds(ids: readonly string[]): Promise<Client[]> {
    return this.clients.findBy({ id: In(ids) });
  }

  /** The current limits of a client: those of its plan, or its own for the enterprise plan. */
  limitsOf(client: Client): PlanLimits {
    return this.quotas.limitsOf(client);
  }

  count(): Promise<number> {
    return this.clients.count();
  }

  /** The client with this id, read with the manager of a transaction if given. Throws client_not_found. */
  async get(id: string, manager = this.clients.manager): Promise<Client> {
    const client = await manager.findOneBy(Client, { id });
    if (!client) throw new ApiError(CLIENTS_ERRORS.client_not_found, { params: { id } });
    return client;
  }

  /**
   * Renames a client or changes its plan. Omitted fields and the counts of quota windows do not change; has no effect if nothing changes.
   * `check` receives the client before the change, in its transaction, and can throw to refuse it. Throws client_not_found, or
   * validation_failed if the plan does not allow these limits.
   */
  async update(
    id: string,
    changes: Partial<NewClient>,
    by: Requester,
    check: (client: Client) => void = () => undefined,
  ): Promise<Client> {
    requireChange(changes, ['name', 'plan', 'perMinute', 'perDay']);
    return this.change(id, by, 'client.updated', (client) => {
      check(client);
      const plan = changes.plan ?? client.plan;
      const before = { name: client.name, plan: client.plan, ...this.limitsOf(client) };
      const limits = plan === client.plan ? mergedLimits(client, changes) : changes;
      Object.assign(client, { name: changes.name ?? client.name, plan, ...planColumns(plan, limits) });
      return differences(before, { name: client.name, plan, ...this.limitsOf(client) });
    });
  }

  /**
   * Refuses all keys of a client until it is resumed. Throws client_not_found or client_already_suspended, and last_key_with_scope unless
   * forced.
   */
  async suspend(id: string, options: Forcible, by: Requester): Promise<Client> {
    return this.change(id, by, 'client.suspended', async (client, manager) => {
      if (client.suspendedAt !== null) {
        const params = { id, instant: client.suspendedAt };
        throw new ApiError(CLIENTS_ERRORS.client_already_suspended, { params });
      }
      if (!options.force) await this.refuseForLastKey(manager, id);
      client.suspendedAt = this.clock.instant();
      return { suspendedAt: client.suspendedAt, ...forceDetail(options) };
    });
  }

  /** Accepts the keys of a suspended client again. Throws client_not_found or client_not_suspended. */
  async resume(id: string, by: Requester): Promise<Client> {
    return this.change(id, by, 'client.resumed', (client) => {
      if (client.suspendedAt === null)
        throw new ApiError(CLIENTS_ERRORS.client_not_suspended, { params: { id } });
      const since = client.suspendedAt;
      client.suspendedAt = null;
      return { suspendedAt: since };
    });
  }

  /**
   * Deletes a client with its keys, its last errors including IP addresses, and its webhooks; returns its last state. The audit trail and
   * the counts of past days remain. Only the audit trail and the keys that it names (DeletedKey) still contain the client's name (see
   * AuditErasure). Runs `more` in the same transaction. Throws client_not_found, and last_key_with_scope unless forced.
   */
  async delete(
    id: string,
    options: Forcible,
    by: Requester,
    more?: (manager: EntityManager, record: RecordChange) => Promise<void>,
  ): Promise<Client> {
    const deletable = async (manager = this.clients.manager): Promise<Client> => {
      const client = await this.get(id, manager);
      if (!options.force) await this.refuseForLastKey(manager, id);
      return client;
    };
    await deletable();
    await this.deleteLogs(id);
    const deleted = await this.changes.run(by, async (manager, record) => {
      const client = await deletable(manager);
      await runForRows(manager, [{ clientId: id, at: this.clock.instant() }], KEEP_DELETED);
      await manager.delete(Client, { id });
      const details = { name: client.name, plan: client.plan, ...forceDetail(options) };
      await record({ action: 'client.deleted', clientId: id, details });
      await more?.(manager, record);
      return client;
    });
    // Rows that other processes wrote in the meantime. Once the client is deleted, they write no more.
    await this.deleteLogs(id);
    return deleted;
  }

  private async deleteLogs(id: string): Promise<void> {
    for (const log of this.logs) await this.sweeper.run(log(id));
  }

  private change(
    id: string,
    by: Requester,
    action: ClientsEventName,
    apply: (client: Client, manager: EntityManager) => object | Promise<object>,
  ): Promise<Client> {
    return this.changes.run(by, async (manager, record) => {
      const client = await this.get(id, manager);
      const details = { ...(await apply(client, manager)) };
      if (Object.keys(details).length === 0) return client;
      const { name, plan, perMinute, perDay, suspendedAt } = client;
      await manager.update(Client, { id }, { name, plan, perMinute, perDay, suspendedAt });
      await record({ action, clientId: id, details });
      return client;
    });
  }

  private refuseForLastKey(manager: EntityManager, clientId: string): Promise<void> {
    return protectLastKey(manager, this.clock.now(), (key) => key.clientId === clientId);
  }
}

/** The client's own limits with the given changes; a fixed plan has none. */
function mergedLimits(client: Client, { perMinute, perDay }: Partial<PlanLimits>): Partial<PlanLimits> {
  const remaining = client.plan === 'enterprise' ? client.ownLimits : {};
  return {
    ...remaining,
    ...(perMinute === undefined ? {} : { perMinute }),
    ...(perDay === undefined ? {} : { perDay }),
  };
}
