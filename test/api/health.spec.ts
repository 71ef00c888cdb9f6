import { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { Readiness } from '../../src/docs/health/health.controller.js';
import { TestService } from '../kit/test-service.js';
import { openForTest } from '../support/opened.js';

const open = openForTest;
describe('health', () => {
  it('is live and ready when all is well', async () => {
    const service = await open();
    expect((await service.request('GET', '/health/live', { key: null })).body.status).toBe('ok');
    const ready = await service.request('GET', '/health/ready', { key: null });
    expect([ready.status, ready.body.details.database.status]).toEqual([200, 'up']);
  });

  it('is live, but not ready, while the service stops', async () => {
    const service = await open();
    service.app.get(Readiness).isStopping = true;
    expect((await service.request('GET', '/health/live', { key: null })).status).toBe(200);
    const { status, body, headers } = await service.request('GET', '/health/ready', { key: null });
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'service_unavailable', '5']);
    expect(body.message).toContain('it is shutting down');
  });

  it('is live, but not ready, without its database', async () => {
    const service = await TestService.open();
    await service.app.get(DataSource).destroy();
    expect((await service.request('GET', '/health/live', { key: null })).status).toBe(200);
    const { status, body } = await service.request('GET', '/health/ready', { key: null });
    expect([status, body.code]).toEqual([503, 'service_unavailable']);
    expect(body.message).toContain('the database does not respond');
  });
});
