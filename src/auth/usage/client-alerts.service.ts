import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DAY_MS } from '../../core/time/duration.js';
import type { Dialect } from '../../database/dialect.js';
import { runForRows } from '../../database/rows-as-json.js';
import { Sweeper } from '../../database/sweeper.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { OnDomainEvent } from '../../events/domain-events.js';
import { startOf } from '../../throttling/quota.js';
import {
  API_KEY_BANNED,
  type ApiKeyBanned,
  QUOTA_THRESHOLD,
  type QuotaThreshold,
} from '../../throttling/throttling.events.js';
import { ApiKey } from '../clients/api-key.entity.js';
import { ALERTS, type AlertKind, ClientAlert } from '../clients/client-alert.entity.js';
import { ClientsService } from '../clients/clients.service.js';
import { DEPRECATED, type RequestCount } from './client-requests.entity.js';

const RETENTION_MS = 2 * DAY_MS;

/** Adds to the stored amounts, but stores the maximum of a percentage. Ignores deleted clients. Locks the clients, as STORE_ERRORS_OF_KEYS does. */
export const RAISE = (rows: string, dialect: Dialect): string => `
  INSERT INTO client_alerts (kind, window_start, client_id, amount)
  SELECT value ->> 'kind', CAST(value ->> 'start' AS BIGINT), value ->> 'clientId', CAST(value ->> 'amount' AS INTEGER)
  FROM ${rows} AS alert JOIN clients ON clients.id = value ->> 'clientId' WHERE true ${dialect.lockRows('clients')}
  ON CONFLICT (kind, window_start, client_id) DO UPDATE SET amount = CASE
    WHEN client_alerts.kind <> 'near_limit' THEN client_alerts.amount + excluded.amount
    WHEN client_alerts.amount < excluded.amount THEN excluded.amount ELSE client_alerts.amount END`;

/** Derives alerts from counts of requests, one for each kind, window and client. */
export function alertsIn(counts: readonly Omit<RequestCount, 'lengthMs'>[]): ClientAlert[] {
  const alerts = new Map<string, ClientAlert>();
  for (const { clientId, start: minute, outcome, requests } of counts)
    for (const { kind, start } of windowsOf(outcome, minute)) {
      const id = `${kind} ${start} ${clientId}`;
      const known = alerts.get(id);
      if (known) known.amount += requests;
      else alerts.set(id, { kind, start, clientId, amount: requests });
    }
  return [...alerts.values()];
}

function windowsOf(outcome: string, minute: number): Pick<ClientAlert, 'kind' | 'start'>[] {
  return kindsOf(outcome).flatMap((kind) => {
    const { lengthMs, windows } = ALERTS[kind];
    const first = startOf(minute, lengthMs);
    return Array.from({ length: windows }, (_, at) => ({ kind, start: first + at * lengthMs }));
  });
}

function kindsOf(outcome: string): readonly AlertKind[] {
  if (outcome === DEPRECATED) return ['deprecated'];
  return outcome.startsWith('429') ? ['refused', 'refused_today'] : [];
}

/** Stores events of the quota, so that operators can list the affected clients and keys, whichever process counts. */
@Injectable()
export class ClientAlerts {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    clients: ClientsService,
    sweeper: Sweeper,
  ) {
    clients.registerLog((clientId) => ({
      entity: ClientAlert,
      where: 'client_id = :clientId',
      parameters: () => ({ clientId }),
    }));
    const parameters = (now: number) => ({ oldest: now - RETENTION_MS });
    sweeper.add({ entity: ClientAlert, where: 'window_start < :oldest', parameters });
  }

  /** A client has used a share of its daily quota. */
  @OnDomainEvent(QUOTA_THRESHOLD)
  async onThreshold({ clientId, window, percent, resetsAt }: QuotaThreshold): Promise<void> {
    if (window !== 'day') return;
    const start = Date.parse(resetsAt) - DAY_MS;
    const alert: ClientAlert = { kind: 'near_limit', start, clientId, amount: percent };
    await this.transactions.uncached((manager) => runForRows(manager, [alert], RAISE));
  }

  @OnDomainEvent(API_KEY_BANNED)
  async onBan({ keyId, bannedUntil }: ApiKeyBanned): Promise<void> {
    await this.dataSource.manager.update(ApiKey, { id: keyId }, { bannedUntil });
  }
}
