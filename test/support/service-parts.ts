import { EventEmitter2 } from '@nestjs/event-emitter';
import { onTestFinished } from 'vitest';
import { ApiKey } from '../../src/auth/clients/api-key.entity.js';
import { ApiKeysService } from '../../src/auth/clients/api-keys.service.js';
import { AuditedChanges } from '../../src/auth/clients/audited-changes.js';
import { ClientQuotas } from '../../src/auth/clients/client-quotas.js';
import { Client } from '../../src/auth/clients/client.entity.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { ClientRequests } from '../../src/auth/clients/client-requests.service.js';
import { KeyIssuingService } from '../../src/auth/clients/key-issuing.service.js';
import { KeyUseService } from '../../src/auth/clients/key-use.service.js';
import { RequestHistory } from '../../src/auth/clients/request-history.js';
import { UsageService } from '../../src/auth/clients/usage.service.js';
import { AuditEntry } from '../../src/auth/audit/audit-entry.entity.js';
import { AuditService } from '../../src/auth/audit/audit.service.js';
import { exampleEnvironment } from '../../src/core/config/define-settings.js';
import { Settings } from '../../src/core/config/settings.js';
import { CacheNeutralWrites } from '../../src/database/cache-neutral-writes.js';
import { openDataSource } from '../../src/database/data-source.js';
import { migrate } from '../../src/database/schema.js';
import type { SqliteDataSource } from '../../src/database/sqlite/sqlite-data-source.js';
import { Sweeper } from '../../src/database/sweeper.js';
import { DomainEvents } from '../../src/events/domain-events.js';
import type { Outbox } from '../../src/events/outbox/outbox.js';
import { Metrics } from '../../src/core/metrics/metrics.js';
import { MemoryQuotaStore } from '../../src/throttling/memory/memory-quota-store.js';
import { QuotaJournal } from '../../src/throttling/memory/quota-journal.js';
import { QuotaService } from '../../src/throttling/quota.service.js';
import { TestClock } from '../kit/test-clock.js';

/** The parts of a service that account for clients. */
export type ServiceParts = Awaited<ReturnType<typeof openParts>>;

/**
 * The parts of a service that account for clients, on a database in memory, put together as the modules do it but without
 * them and without HTTP: what a suite needs of them is there in milliseconds. It is closed when the test is over.
 */
export async function openParts(environment: Readonly<Record<string, string>> = {}) {
  const clock = new TestClock('2026-11-20T12:00:10.250Z');
  const settings = new Settings({
    ...exampleEnvironment(),
    NODE_ENV: 'test',
    DATABASE_URL: 'sqlite::memory:',
    ...environment,
  });
  const dataSource = (await openDataSource(settings)) as SqliteDataSource;
  onTestFinished(() => dataSource.destroy());
  await migrate(dataSource);
  const { reader, transactions } = dataSource;
  const cacheNeutralWrites = new CacheNeutralWrites(transactions);
  const sweeper = new Sweeper(dataSource, cacheNeutralWrites, clock, settings);
  const journal = new QuotaJournal(dataSource, reader, cacheNeutralWrites, clock, sweeper);
  const store = new MemoryQuotaStore(clock, journal);
  const emitter = new EventEmitter2();
  const events = new DomainEvents(emitter, transactions, {} as Outbox);
  const quota = new QuotaService(store, journal, events, clock, new Metrics());
  const audit = new AuditService(dataSource.getRepository(AuditEntry), clock, sweeper);
  const changes = new AuditedChanges(dataSource, transactions, audit, events, clock);
  const quotas = new ClientQuotas();
  const clients = new ClientsService(dataSource.getRepository(Client), changes, quotas, clock);
  const apiKeys = dataSource.getRepository(ApiKey);
  const keys = new ApiKeysService(apiKeys, clients, quota, quotas, changes, clock);
  const issuing = new KeyIssuingService(keys, clients, changes, settings, clock);
  const uses = new KeyUseService(cacheNeutralWrites, clock);
  const requests = new ClientRequests(cacheNeutralWrites, clock, new Metrics());
  const history = new RequestHistory(dataSource, clock, sweeper);
  const usage = new UsageService(apiKeys, clients, quota, quotas, history, clock);
  return {
    clock,
    settings,
    dataSource,
    reader,
    cacheNeutralWrites,
    sweeper,
    journal,
    store,
    emitter,
    quota,
    quotas,
    audit,
    clients,
    keys,
    issuing,
    uses,
    requests,
    history,
    usage,
  };
}
