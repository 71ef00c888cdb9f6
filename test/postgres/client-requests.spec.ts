import { DataSource } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ClientRequests } from '../../src/auth/usage/client-requests.service.js';
import { RequestHistory } from '../../src/auth/usage/request-history.js';
import { declaredScopes } from '../../src/auth/scopes.js';
import { Metrics } from '../../src/core/metrics/metrics.js';
import { Transactions } from '../../src/database/transactions/transactions.js';
import type { Database } from '../../src/database/database.js';
import { migrate } from '../../src/database/schema.js';
import { Sweeper } from '../../src/database/sweeper.js';
import { QuotaJournal } from '../../src/throttling/memory/quota-journal.js';
import { TestService, type TestServiceOptions } from '../kit/test-service.js';
import { refuseWrites } from '../support/databases.js';
import { hammer } from '../support/earn-ban.js';
import { printedBy } from '../support/orders.js';
import { REDIS_URL, describeWith } from '../support/requirements.js';
import { removeRedisKeysAtEnd } from '../support/redis-keys.js';
import { databaseOf, openForTest } from '../support/opened.js';

removeRedisKeysAtEnd();

const ALL = declaredScopes().map(({ name }) => name);
const GET = 'GET /v1/pets/:petId';
const LIST = 'GET /v1/pets';

async function open(options: TestServiceOptions = {}) {
  const service = await openForTest({ at: '2026-11-20T23:58:10.250Z', ...options });
  const admin = await service.issueKey({ plan: 'business', scopes: ALL });
  const flush = () => service.app.get(ClientRequests).flush();
  const request = async (path: string) => {
    await flush();
    await service.app.get(QuotaJournal).flush();
    return (await service.request('GET', path, { key: admin.key })).body;
  };
  const usage = (days = 1) => request(`/admin/clients/${service.clientId}?days=${days}`);
  const get = (path: string, headers: Record<string, string> = {}) =>
    service.request('GET', path, { headers });
  return { service, admin, flush, ask: request, usage, get };
}

const requestsOf = (rows: readonly Record<string, unknown>[]) =>
  rows.map(({ operation, outcome, requests, lastHour }) => [operation, outcome, requests, lastHour]);

describe('what came of the requests of a client', () => {
  it('is counted by key, operation, outcome, minute and day; requests without a valid key belong to no client', async () => {
    const { service, ask: request, usage, get } = await open({ plan: 'free' });
    const { headers } = await get('/v1/pets');
    await get('/v1/pets', { 'if-none-match': headers.get('etag') ?? '' });
    await get('/v1/pets?limit=x');
    await get('/v1/pets/9');
    await get('/none');
    await service.request('GET', '/v1/pets', { key: null });
    await service.request('GET', '/v1/pets', { key: 'pst_test_wrong' });
    service.clock.set('2026-11-21T00:00:05.000Z');
    await hammer(service, 63);
    const shown = await usage(2);
    expect(requestsOf(shown.operations)).toEqual([
      [LIST, '2xx', 61, 61],
      [LIST, '429 rate_limit_exceeded', 3, 3],
      [LIST, '304', 1, 1],
      [LIST, '400 validation_failed', 1, 1],
      [GET, '404 pet_not_found', 1, 1],
      ['unmatched', '404 route_not_found', 1, 1],
    ]);
    for (const { p50Ms, p99Ms } of shown.operations) expect(0 < p50Ms && p50Ms <= p99Ms).toBe(true);
    expect(shown.outcomes).toHaveLength(6);
    expect(shown.outcomes[0]).toMatchObject({ outcome: '2xx', requests: 61, lastHour: 61 });
    expect(shown.days).toEqual([
      { date: '2026-11-21', requests: 60, refused: 3 },
      { date: '2026-11-20', requests: 5, refused: 0 },
    ]);
    expect(shown.minutes).toHaveLength(60);
    expect(shown.minutes.slice(0, 4)).toEqual([
      { minute: '2026-11-21T00:00:00.000Z', requests: 60, refused: 3 },
      { minute: '2026-11-20T23:59:00.000Z', requests: 0, refused: 0 },
      { minute: '2026-11-20T23:58:00.000Z', requests: 5, refused: 0 },
      { minute: '2026-11-20T23:57:00.000Z', requests: 0, refused: 0 },
    ]);
    // The holder of the key sees the same.
    const own = (await get('/account/usage?days=2')).body;
    expect(requestsOf(own.operations)).toEqual(requestsOf(shown.operations));
    const [listed] = await request('/admin/usage?days=2&name=Test');
    expect(listed.days).toEqual(shown.days);
    expect(listed.outcomes[0]).toMatchObject({ outcome: '2xx', requests: 61 });
    // It used no quota, so it is not among the admitted requests.
    expect((await usage()).outcomes).toContainEqual(
      expect.objectContaining({ outcome: '2xx uncounted', requests: 1 }),
    );
    expect((await usage()).minutes[0]).toMatchObject({ requests: 60 });
    const { stdout } = await printedBy(service, ['usage', 'list']);
    expect(stdout).toMatch(/REFUSED \(60 MIN\)[^]* Test +free +60\/60 +\S+ +65 +3 /);
    expect((await printedBy(service, ['client', 'show', service.clientId])).stdout).toMatch(
      /\n429 rate_limit_exceeded +3 +3 .* GET \/v1\/pets\n/,
    );
    service.clock.advance(3_600_000);
    expect((await usage()).outcomes[0]).toMatchObject({ outcome: '2xx', lastHour: 0 });
  });

  it('is marked where it used no quota, also as an error, and is not among the admitted requests then', async () => {
    const { service, admin, usage, get } = await open();
    await get('/v1/pets/9');
    await get('/account/requests?limit=x');
    const turn = (to: string) =>
      service.request('POST', `/admin/clients/${service.clientId}/${to}`, { key: admin.key });
    await turn('suspend');
    await get('/v1/pets');
    await turn('resume');
    const { outcomes, minutes } = await usage();
    expect(outcomes.map(({ outcome }: { outcome: string }) => outcome).toSorted()).toEqual([
      '400 validation_failed uncounted',
      '403 client_suspended uncounted',
      '404 pet_not_found',
    ]);
    expect(minutes[0]).toMatchObject({ requests: 1, refused: 0 });
  });

  it('includes what was refused because the key has ended, which uses neither the key nor its quota', async () => {
    const { service, admin, ask: request, usage } = await open();
    const { id, clientId, key } = await service.issueKey({ plan: 'free' });
    const post = (path: string, json?: object) =>
      service.request('POST', path, { key: admin.key, ...(json ? { json } : {}) });
    await post(`/admin/keys/${id}/revoke`);
    const headers = { 'x-request-id': 'revoked-1' };
    expect((await service.request('GET', '/v1/pets', { key, headers })).status).toBe(401);
    const issued = (await post('/admin/keys', { clientId, expires: '1s' })).body;
    service.clock.advance(1_000);
    await service.request('GET', '/v1/pets', { key: issued.key });
    const errors = await request(`/admin/requests?client=${clientId}`);
    expect(errors.map(({ code, keyId }: Record<string, string>) => [code, keyId])).toEqual([
      ['expired_api_key', issued.id],
      ['revoked_api_key', id],
    ]);
    expect(await request('/admin/search?text=revoked-1')).toMatchObject([{ kind: 'request', clientId }]);
    expect((await printedBy(service, ['request', 'show', 'revoked-1'])).stdout).toMatch(/revoked_api_key/);
    const { outcomes, windows, lastUsedAt } = await request(`/admin/clients/${clientId}`);
    expect(outcomes.map(({ outcome }: { outcome: string }) => outcome).toSorted()).toEqual([
      '401 expired_api_key uncounted',
      '401 revoked_api_key uncounted',
    ]);
    expect(windows.map(({ used }: { used: number }) => used)).toEqual([0, 0]);
    expect(lastUsedAt).toBeNull();
    expect((await usage()).outcomes).toEqual([]);
  });

  it('is counted together where no client is known, for the last hour and the day', async () => {
    const { service, ask: request } = await open();
    const before = (await request('/admin/overview')).traffic[0];
    for (let sent = 0; sent < 63; sent += 1) await service.request('GET', '/v1/pets', { key: null });
    await service.request('GET', '/v1/pets', { key: 'pst_test_wrong' });
    const { traffic } = await request('/admin/overview');
    expect(traffic.map(({ withoutKey }: { withoutKey: number }) => withoutKey)).toEqual([64, 64]);
    // Two requests for the overview itself, and no refusals.
    expect(traffic[0]).toMatchObject({ clientErrors: 0, refused: 0 });
    expect(traffic[0].requests).toBeLessThanOrEqual(before.requests + 2);
    expect((await printedBy(service, ['overview'])).stdout).toMatch(/\b64\b/);
    service.clock.advance(3_600_000);
    expect((await request('/admin/overview')).traffic[0].withoutKey).toBe(0);
  });

  it('has a metric with few labels, and is deleted when it is old', async () => {
    const { service, flush, usage, get } = await open();
    await get('/v1/pets');
    await get('/v1/pets/9');
    await service.request('GET', '/v1/pets', { key: null });
    expect(await service.metric('petstore_client_requests_total', { outcome: '2xx' })).toBe(1);
    expect(await service.metric('petstore_client_requests_total', { outcome: '4xx' })).toBe(1);
    await usage();
    const retention = async () => {
      // What is written behind the sweep stays until the next.
      await flush();
      await service.app.get(Sweeper).sweep();
      const rows = await service.app
        .get(DataSource)
        .query<{ length_ms: number }[]>('SELECT DISTINCT length_ms FROM request_counts ORDER BY length_ms');
      return rows.map(({ length_ms }) => length_ms);
    };
    service.clock.advance(3 * 3_600_000);
    expect(await retention()).toEqual([86_400_000]);
    service.clock.advance(91 * 86_400_000);
    expect(await retention()).toEqual([]);
  });
});

it('calls to deprecated operations that an earlier version has counted are preserved, in both directions', async () => {
  const { service, usage } = await open();
  const database = service.app.get(DataSource) as Database;
  const isThere = `SELECT 1 FROM schema_migrations WHERE name LIKE 'ClientRequests%'`;
  const goBack = async () => {
    while ((await database.query<unknown[]>(isThere)).length > 0) await database.undoLastMigration();
  };
  const day = Date.parse('2026-11-20T00:00:00.000Z');
  await goBack();
  await database.query(`INSERT INTO deprecated_calls VALUES ('${service.clientId}', '${GET}', ${day}, 7)`);
  await migrate(database);
  expect(await usage()).toMatchObject({
    deprecatedCalls: [{ operation: GET, calls: 7, lastDay: '2026-11-20' }],
    outcomes: [],
  });
  await goBack();
  const retention = await database.query<{ calls: number | string }[]>('SELECT calls FROM deprecated_calls');
  expect(retention.map(({ calls }) => Number(calls))).toEqual([7]);
  await migrate(database);
});

describe('the last errors of a client', () => {
  it('are found by X-Request-Id, over HTTP and on the command line, without any secret', async () => {
    const { service, ask: request, get } = await open();
    await get('/v1/pets/9?secret=hidden', { 'x-request-id': 'lost-1', cookie: 'hidden' });
    service.clock.advance(1_000);
    await get('/v1/pets?limit=x', { 'x-request-id': 'lost-2' });
    await get('/v1/pets', { 'x-request-id': 'found-1' });
    const expected = {
      at: '2026-11-20T23:58:10.250Z',
      requestId: 'lost-1',
      clientId: service.clientId,
      clientName: 'Test',
      keyId: expect.stringMatching(/^[\w-]{36}$/),
      keyPrefix: service.key.slice(0, 13),
      operation: GET,
      status: 404,
      code: 'pet_not_found',
      address: '127.0.0.1',
    };
    expect(await request('/admin/requests?requestId=lost-1')).toEqual([expected]);
    expect(await request('/admin/requests?requestId=found-1')).toEqual([]);
    const ofClient = await request(`/admin/requests?client=${service.clientId}`);
    expect(ofClient.map(({ requestId }: { requestId: string }) => requestId)).toEqual(['lost-2', 'lost-1']);
    const shown = await printedBy(service, ['request', 'show', 'lost-1', '--json']);
    expect(JSON.parse(shown.stdout)).toEqual([expected]);
    expect((await printedBy(service, ['request', 'show', 'lost-1'])).stdout).toMatch(
      /code +pet_not_found\n[^]*request +lost-1\n/,
    );
    const none = await printedBy(service, ['request', 'show', 'found-1']);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('No request found-1 was found')]);
    const { stdout } = await printedBy(service, ['request', 'list', '--client', 'Test', '--limit', '1']);
    expect(stdout).toMatch(/^AT[^\n]+\n[^\n]+GET \/v1\/pets +400 +validation_failed[^\n]+\n$/);
    const rows = await service.app.get(DataSource).query('SELECT * FROM refused_requests');
    expect(JSON.stringify(rows)).not.toMatch(/hidden|pst_/);
  });

  it('are 200 of each client, the latest written, also when the clock is set back and several processes write', async () => {
    const { service, flush, get } = await open();
    const { app, clock } = service;
    const other = new ClientRequests(app.get(Transactions), clock, new Metrics());
    const caller = { clientId: service.clientId, keyId: null, user: 'u', scopes: [] };
    const note = (requests: ClientRequests, from: number, to: number) => {
      for (let at = from; at < to; at += 1)
        requests.note({
          caller,
          operation: GET,
          status: 404,
          code: 'x',
          durationMs: 1,
          requestId: `r${at}`,
          address: undefined,
        });
    };
    note(other, 0, 150);
    await other.flush();
    await get('/v1/pets/9');
    clock.set('2026-01-01T00:00:00.000Z');
    note(app.get(ClientRequests), 150, 500);
    await flush();
    note(other, 500, 510);
    await other.flush();
    const { items } = await app.get(RequestHistory).errors({ limit: 300 }, {});
    const expected = Array.from({ length: 200 }, (_, at) => `r${509 - at}`);
    expect(items.map(({ requestId }) => requestId)).toEqual(expected);
  });

  it('wait while the database cannot be written, and no request does', async () => {
    const { service, flush, usage, get } = await open({ database: 'file' });
    const dataSource = service.app.get(DataSource);
    await get('/v1/pets');
    await refuseWrites(dataSource, true);
    onTestFinished(() => refuseWrites(dataSource, false));
    for (let sent = 0; sent < 3; sent += 1) {
      expect((await get('/v1/pets/9')).status).toBe(404);
      await flush();
    }
    await refuseWrites(dataSource, false);
    await expect
      .poll(async () => requestsOf((await usage()).operations))
      .toEqual([
        [GET, '404 pet_not_found', 3, 3],
        [LIST, '2xx', 1, 1],
      ]);
    expect((await service.app.get(RequestHistory).errors({ limit: 9 }, {})).items).toHaveLength(3);
  });
});

describeWith('redis', 'two instances on one database', () => {
  it('count together, keep one list of errors, and both show all of it, also after a restart', async () => {
    const environment = { REDIS_URL, REDIS_TIMEOUT_MS: '60000' };
    const { service: one, flush, usage, get } = await open({ database: 'file', environment });
    const shared = { ...environment, ...databaseOf(one) };
    const start = () => TestService.open({ at: one.clock.instant(), environment: shared });
    const other = await start();
    const requestOther = (service: TestService) => service.request('GET', '/v1/pets/9', { key: one.key });
    for (let sent = 0; sent < 120; sent += 1) {
      await get('/v1/pets/9');
      await requestOther(other);
    }
    await flush();
    // A stop writes what is left.
    await other.close();
    const again = await start();
    onTestFinished(() => again.close());
    await requestOther(again);
    await again.app.get(ClientRequests).flush();
    expect(requestsOf((await usage()).operations)).toEqual([[GET, '404 pet_not_found', 241, 241]]);
    const { items } = await again.app.get(RequestHistory).errors({ limit: 500 }, { clientId: one.clientId });
    expect(items).toHaveLength(200);
  });
});
