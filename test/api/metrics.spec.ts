import type { NextFunction, Request, Response } from 'express';
import { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { ManagementServer } from '../../src/core/metrics/management-server.js';
import { Metrics } from '../../src/core/metrics/metrics.js';
import { TestService } from '../kit/test-service.js';
import { ON_POSTGRES } from '../support/databases.js';
import { gate } from '../support/gate.js';
import { sendRaw } from '../support/raw-http.js';
import { openForTest } from '../support/opened.js';

async function open(environment: Record<string, string> = {}): Promise<TestService> {
  return openForTest({ database: 'file', environment });
}

/** The values of a label in the samples of a metric. */
async function valuesOf(service: TestService, metric: string, label: string): Promise<string[]> {
  const { text } = await service.app.get(Metrics).exposition();
  const lines = text.split('\n').filter((line) => line.startsWith(`${metric}{`));
  const values = lines.map((line) => new RegExp(`\\b${label}="([^"]*)"`).exec(line)?.[1] ?? '');
  return [...new Set(values)].toSorted();
}

it('no response of the management port is stored by a cache', async () => {
  const service = await open({ MANAGEMENT_PORT: '0' });
  const port = await service.app.get(ManagementServer).listen();
  for (const [method, path, status] of [
    ['GET', '/metrics', 200],
    ['HEAD', '/metrics?a=b', 200],
    ['POST', '/metrics', 405],
    ['GET', '/none', 404],
  ] as const) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    expect([path, response.status, response.headers.get('cache-control')]).toEqual([
      path,
      status,
      'no-store',
    ]);
  }
});

describe('the route of a request', () => {
  it('is that of the page or folder that serves it, and never the requested path', async () => {
    const service = await open();
    for (const path of [
      '/docs',
      '/docs/',
      '/docs/openapi.json',
      '/docs/swagger-ui.css',
      '/docs/assets/docs.css',
      '/docs/assets/docs.js?v=1',
      '/docs/guides/using-the-api',
      '/docs/assets/none.js',
      '/console/',
      '/console/console.js',
      '/favicon.ico',
      // They are on the management port alone.
      '/metrics',
      '/wp-login.php',
      '/v1/none/at/all',
    ])
      await service.request('GET', path);
    expect(await valuesOf(service, 'http_requests_total', 'route')).toEqual([
      '/*',
      '/console/',
      '/console/*',
      '/docs',
      '/docs/',
      '/docs/*',
      '/docs/assets/*',
      '/docs/guides/using-the-api',
      'unmatched',
    ]);
  });
});

describe('refusals', () => {
  it('are counted by their code: those of credentials, of scopes and of what does not exist', async () => {
    const service = await open();
    const { key } = await service.issueKey({ scopes: ['pets:read'] });
    await service.request('GET', '/v1/pets', { key: null });
    await service.request('GET', '/v1/pets', { key: 'pst_live_wrong' });
    await service.request('GET', '/v1/pets', { key: 'pst_live_wrong' });
    await service.request('POST', '/v1/pets', { key, json: { name: 'Rex', categoryId: 1 } });
    await service.request('GET', '/v1/pets/999999', { key });
    await service.request('GET', '/v1/pets', { key });
    const count = (code: string) => service.metric('petstore_refusals_total', { code });
    expect(await valuesOf(service, 'petstore_refusals_total', 'code')).toEqual([
      'insufficient_scope',
      'invalid_api_key',
      'missing_api_key',
      'pet_not_found',
    ]);
    expect(await count('invalid_api_key')).toBe(2);
    expect(await count('missing_api_key')).toBe(1);
  });

  it('are counted even if the parser or the overload check refuses a request before the chain', async () => {
    const held = gate();
    const service = await openForTest({
      database: 'file',
      environment: { MAX_REQUESTS_IN_FLIGHT: '1' },
      prepare: (app) =>
        app.use(async (_: Request, __: Response, next: NextFunction) => {
          await held.opened;
          next();
        }),
    });
    const count = (code: string) => service.metric('petstore_refusals_total', { code });
    await sendRaw(service.url, 'GARBAGE\r\n\r\n');
    expect(await count('malformed_request')).toBe(1);
    const requests = Array.from({ length: 20 }, () => service.request('GET', '/v1/pets'));
    await expect.poll(() => count('service_unavailable')).toBe(19);
    held.open();
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 503)).toHaveLength(19);
  });
});

describe('the caches', () => {
  it('count queries and hits, and the stored entries', async () => {
    const service = await open();
    const lookups = (cache: string, outcome: string) =>
      service.metric('petstore_cache_lookups_total', { cache, outcome });
    for (let sent = 0; sent < 3; sent += 1) await service.request('GET', '/v1/pets?limit=1');
    const keys = [await lookups('keys', 'hit'), await lookups('keys', 'miss')];
    expect(keys[0]).toBeGreaterThan(0);
    expect(Number(keys[0]) + Number(keys[1])).toBe(3);
    // A mistyped key is refused for its checksum, without a query.
    const mistyped = service.key.slice(0, -1) + (service.key.endsWith('a') ? 'b' : 'a');
    expect((await service.request('GET', '/v1/pets', { key: mistyped })).status).toBe(401);
    expect([await lookups('keys', 'hit'), await lookups('keys', 'miss')]).toEqual(keys);
    expect(await service.metric('petstore_cache_entries', { cache: 'keys' })).toBe(1);
    const responses = [await lookups('responses', 'hit'), await lookups('responses', 'miss')];
    expect(Number(responses[0]) + Number(responses[1])).toBe(3);
    // Without Redis several processes may write to PostgreSQL unheard, so that no response is kept there.
    expect(responses[0]).toBe(ON_POSTGRES ? 0 : 2);
    expect(await service.metric('petstore_cache_entries', { cache: 'responses' })).toBe(ON_POSTGRES ? 0 : 1);
  });

  it('hold no more than RESPONSE_CACHE_MIB of responses', async () => {
    const service = await open({ RESPONSE_CACHE_MIB: '1' });
    const most = await service.metric('petstore_response_cache_max_bytes', {});
    expect(most).toBe(1_048_576);
    // Each takes some 900 bytes.
    const padding = 'x'.repeat(450);
    for (let sent = 0; sent < 1_500; sent += 1)
      await service.request('GET', `/v1/pets?limit=1&sent=${sent}${padding}`);
    expect(await service.metric('petstore_response_cache_bytes', {})).toBeLessThanOrEqual(1_048_576);
    const entries = await service.metric('petstore_cache_entries', { cache: 'responses' });
    expect(entries).toBeLessThan(1_500);
    if (!ON_POSTGRES) expect(entries).toBeGreaterThan(500);
  });
});

describe('the database', () => {
  it('shows that it is available, how many connections are in use, and how many requests wait for one', async () => {
    const service = await open();
    const dataSource = service.app.get(DataSource);
    const connections = (state: string) => service.metric('petstore_database_connections', { state });
    expect(await service.metric('petstore_database_up')).toBe(1);
    expect(await service.metric('petstore_database_connections_max')).toBe(ON_POSTGRES ? 10 : 1);
    // Jobs and webhooks look each second whether anything is due.
    await expect.poll(() => connections('in_use')).toBe(0);
    const end = gate();
    const held = Array.from({ length: 12 }, () =>
      dataSource.transaction(async () => {
        await dataSource.query('SELECT 1');
        await end.opened;
      }),
    );
    await expect
      .poll(() => service.metric('petstore_database_waiting'))
      .toBeGreaterThanOrEqual(ON_POSTGRES ? 4 : 11);
    await expect.poll(() => connections('in_use')).toBe(ON_POSTGRES ? 8 : 1);
    end.open();
    await Promise.all(held);
    expect(await service.metric('petstore_database_waiting')).toBe(0);
    await expect.poll(() => connections('in_use')).toBe(0);
  });
});
