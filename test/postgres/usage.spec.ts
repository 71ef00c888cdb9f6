import { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { ClientRequests } from '../../src/auth/usage/client-requests.service.js';
import { declaredScopes } from '../../src/auth/scopes.js';
import { Sweeper } from '../../src/database/sweeper.js';
import { QuotaJournal } from '../../src/throttling/memory/quota-journal.js';
import { ON_POSTGRES } from '../support/databases.js';
import { REDIS_URL, describeWith } from '../support/requirements.js';
import { type TestServiceOptions } from '../kit/test-service.js';
import { removeRedisKeysAtEnd } from '../support/redis-keys.js';
import { openForTest } from '../support/opened.js';

removeRedisKeysAtEnd();

const ALL = declaredScopes().map(({ name }) => name);

function describeUsage(environment: TestServiceOptions['environment'] = {}): void {
  async function open() {
    const service = await openForTest({ plan: 'pro', environment, at: '2026-11-20T23:59:10.250Z' });
    service.clock.advance(1);
    const { key: adminKey } = await service.issueKey({ plan: 'business', scopes: ALL });
    const send = async (times: number) => {
      for (let sent = 0; sent < times; sent += 1) await service.request('GET', '/v1/pets?limit=1');
    };
    const usage = async (days = 3) => {
      await service.app.get(QuotaJournal).flush();
      await service.app.get(ClientRequests).flush();
      const path = `/admin/clients/${service.clientId}?days=${days}`;
      return (await service.request('GET', path, { key: adminKey })).body;
    };
    return { service, adminKey, send, usage };
  }

  it('shows both windows, last use and days as they are', async () => {
    const { service, send, usage } = await open();
    await send(7);
    expect(await usage()).toMatchObject({
      plan: 'pro',
      windows: [
        { name: 'minute', limit: 300, used: 7, remaining: 293, resetsAt: '2026-11-21T00:00:00.000Z' },
        { name: 'day', limit: 10_000, used: 7, remaining: 9_993, resetsAt: '2026-11-21T00:00:00.000Z' },
      ],
      bans: [],
      // To the minute, but not before the key was created.
      lastUsedAt: '2026-11-20T23:59:10.250Z',
      days: [
        { date: '2026-11-20', requests: 7, refused: 0 },
        { date: '2026-11-19', requests: 0, refused: 0 },
        { date: '2026-11-18', requests: 0, refused: 0 },
      ],
    });
    service.clock.set('2026-11-21T00:00:05.000Z');
    await send(2);
    expect(await usage()).toMatchObject({
      windows: [{ used: 2 }, { used: 2, remaining: 9_998 }],
      lastUsedAt: '2026-11-21T00:00:00.000Z',
      days: [
        { date: '2026-11-21', requests: 2, refused: 0 },
        { date: '2026-11-20', requests: 7, refused: 0 },
        { date: '2026-11-19', requests: 0, refused: 0 },
      ],
    });
    service.clock.set('2026-11-22T12:00:00.000Z');
    expect((await usage(3)).days.map(({ requests }: { requests: number }) => requests)).toEqual([0, 2, 7]);
  });

  it('shows who still calls deprecated operations, by day, and nobody else', async () => {
    const { service, adminKey, usage } = await open();
    const deprecatedCalls = async () => {
      await service.app.get(ClientRequests).flush();
      return (await usage()).deprecatedCalls;
    };
    expect(await deprecatedCalls()).toEqual([]);
    const get = () => service.request('GET', '/v1/pets/1');
    await get();
    await get();
    const operation = 'GET /v1/pets/:petId';
    expect(await deprecatedCalls()).toEqual([{ operation, calls: 2, lastDay: '2026-11-20' }]);
    service.clock.set('2026-11-21T00:00:05.000Z');
    await get();
    expect(await deprecatedCalls()).toEqual([{ operation, calls: 3, lastDay: '2026-11-21' }]);
    const { body } = await service.request('GET', '/admin/usage?days=1', { key: adminKey });
    expect(body.map((client: { deprecatedCalls: unknown }) => client.deprecatedCalls)).toEqual([
      [{ operation, calls: 1, lastDay: '2026-11-21' }],
      [],
    ]);
    service.clock.advance(91 * 86_400_000);
    // What is written behind the sweep stays until the next.
    await service.app.get(ClientRequests).flush();
    await service.app.get(Sweeper).sweep();
    expect(await service.app.get(DataSource).query('SELECT * FROM request_counts')).toEqual([]);
  });

  it('counts what was admitted, not what was refused, also where it is more than a smaller plan allows', async () => {
    const { service, send, usage } = await open();
    await send(65);
    await service.app.get(ClientsService).update(service.clientId, { plan: 'free' }, SERVICE_ITSELF);
    await send(5);
    expect(await usage()).toMatchObject({
      windows: [{ limit: 60, used: 65, remaining: 0 }, { used: 65 }],
      days: [{ requests: 65 }, {}, {}],
    });
  });
}

describe('the usage of a client', () => {
  describeUsage();
});

// What is counted in Redis does not depend on the database.
if (!ON_POSTGRES)
  describeWith('redis', 'the usage of a client, with quotas in Redis', () => {
    describeUsage({ REDIS_URL, REDIS_TIMEOUT_MS: '60000' });
  });
