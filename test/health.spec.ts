import { DataSource } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Readiness } from '../src/health/readiness.js';
import { Store } from './support/store.js';

async function open(): Promise<Store> {
  const store = await Store.open();
  onTestFinished(() => store.close());
  return store;
}

describe('health', () => {
  it('is live and ready when all is well', async () => {
    const store = await open();
    expect((await store.request('GET', '/health/live', { key: null })).body.status).toBe('ok');
    const ready = await store.request('GET', '/health/ready', { key: null });
    expect([ready.status, ready.body.details.database.status]).toEqual([200, 'up']);
  });

  it('is live, but not ready, while the service stops', async () => {
    const store = await open();
    store.app.get(Readiness).stop();
    expect((await store.request('GET', '/health/live', { key: null })).status).toBe(200);
    const { status, body, headers } = await store.request('GET', '/health/ready', { key: null });
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'service_unavailable', '5']);
    expect(body.message).toContain('it is stopping');
  });

  it('is live, but not ready, without its database', async () => {
    const store = await Store.open();
    await store.app.get(DataSource).destroy();
    expect((await store.request('GET', '/health/live', { key: null })).status).toBe(200);
    const { status, body } = await store.request('GET', '/health/ready', { key: null });
    expect([status, body.code]).toEqual([503, 'service_unavailable']);
    expect(body.message).toContain('the database does not answer');
  });
});
