import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { metricIn } from '../kit/metric-samples.js';
import { freePort } from '../support/free-port.js';
import { folderOfTest, petstore, serviceOfTest } from '../support/service-process.js';

/** Starts the service in maintenance mode. */
async function inMaintenance(path: string, environment: NodeJS.ProcessEnv = {}) {
  const port = String(await freePort());
  const service = await serviceOfTest(path, { MAINTENANCE: 'on', MANAGEMENT_PORT: port, ...environment });
  const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return { service, metrics };
}

describe('a process in maintenance mode', () => {
  it('responds with 503 and Retry-After to every request except /health/live', async () => {
    const { service, metrics } = await inMaintenance(await folderOfTest());
    const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
    const refused = await Promise.all([
      service.request('GET', '/v1/pets', { key: 'pst_test_any' }),
      service.request('POST', '/v1/pets', { body }),
      service.request('DELETE', '/admin/clients/1'),
      service.request('GET', '/health/ready'),
      service.request('GET', '/docs'),
      service.request('GET', '/none?path=/health/live'),
      service.request('POST', '/health/live'),
    ]);
    for (const { status, body: error, headers } of refused) {
      expect([status, error.code, headers.get('retry-after')]).toEqual([503, 'service_unavailable', '60']);
      expect(error.message).toContain('it is in maintenance mode');
      expect(headers.get('x-ratelimit-remaining')).toBe(headers.get('x-ratelimit-limit'));
      expect(headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
    }
    expect((await service.request('GET', '/health/live')).body).toMatchObject({ status: 'ok' });
    expect(metricIn(await metrics(), 'petstore_maintenance')).toBe(1);
    expect((await service.stop()).code).toBe(0);
  });

  it('takes no lock: the file is restored while it runs, and served afterwards', async () => {
    const path = await folderOfTest();
    const first = await serviceOfTest(path);
    const { demoKey: key } = first;
    expect((await petstore(path, ['db', 'backup', 'backup.sqlite'])).code).toBe(0);
    const lost = await first.request('POST', '/v1/pets', {
      key,
      body: JSON.stringify({ name: 'Lost', categoryId: 1 }),
    });
    await first.stop();
    const { service } = await inMaintenance(path);
    const { code, stderr } = await petstore(path, ['db', 'restore', 'backup.sqlite', '--yes']);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    await service.stop();
    const again = await serviceOfTest(path);
    expect((await again.request('GET', '/v1/pets', { key })).status).toBe(200);
    expect((await again.request('GET', lost.headers.get('location') ?? '', { key })).status).toBe(404);
  });

  it('needs neither PostgreSQL nor Redis, and makes nothing', async () => {
    const path = await folderOfTest();
    const nobody = `127.0.0.1:${await freePort()}`;
    const { service } = await inMaintenance(path, {
      NODE_ENV: 'production',
      DATABASE_URL: `postgres://petstore@${nobody}/petstore`,
      REDIS_URL: `redis://${nobody}`,
    });
    expect((await service.request('GET', '/v1/pets')).status).toBe(503);
    expect(await readdir(path)).toEqual([]);
  });
});
