import { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { AuditEntry } from '../../src/auth/audit/audit-entry.entity.js';
import { ApiKeysService } from '../../src/auth/clients/api-keys.service.js';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { declaredScopes } from '../../src/auth/scopes.js';
import { earnBan } from '../support/earn-ban.js';
import { onCommandLine, overHttp, printedBy } from '../support/orders.js';
import { TestService } from '../kit/test-service.js';
import { openForTest } from '../support/opened.js';

const ALL = declaredScopes().map(({ name }) => name);

async function open() {
  const service = await openForTest();
  const { id: adminId, key: adminKey } = await service.issueKey({ scopes: ALL });
  const trail = async (query = '') =>
    (await service.request('GET', `/admin/audit${query}`, { key: adminKey })).body as Record<
      string,
      unknown
    >[];
  return { service, adminId, adminKey, trail };
}

const latest = (service: TestService, take: number) =>
  service.repository(AuditEntry).find({ order: { id: 'DESC' }, take });

const commanded = (service: TestService, ...args: string[]) =>
  onCommandLine(service, { args, method: '', path: '' });

describe('the audit trail', () => {
  it('records who changed which client or key, when, and from where: a key over HTTP', async () => {
    const { service, adminId, adminKey, trail } = await open();
    await service.request('PATCH', `/admin/clients/${service.clientId}`, {
      key: adminKey,
      json: { plan: 'pro' },
      headers: { 'x-request-id': 'my-request' },
    });
    expect((await trail())[0]).toEqual({
      id: expect.any(Number),
      at: '2026-11-20T12:00:10.250Z',
      action: 'client.updated',
      actor: 'key',
      actorKeyId: adminId,
      actorName: expect.stringMatching(/^pst_test_\w{4}… \(Test\)$/),
      from: '127.0.0.1',
      requestId: 'my-request',
      clientId: service.clientId,
      clientName: 'Test',
      keyId: null,
      keyPrefix: null,
      endpointName: null,
      details: {
        plan: { from: 'business', to: 'pro' },
        perMinute: { from: 1_000, to: 300 },
        perDay: { from: 100_000, to: 10_000 },
      },
    });
  });

  it('has every change, and remains after its subject is deleted', async () => {
    const { service, adminKey, trail } = await open();
    const send = async (method: string, path: string, json?: unknown) =>
      (await overHttp(service, adminKey, { args: [], method, path, json })).document as { id: string };
    const { id: client } = await send('POST', '/admin/clients', { name: 'A', plan: 'free' });
    const { id: first } = await send('POST', '/admin/keys', { clientId: client, label: 'L', expires: '1d' });
    await send('PATCH', `/admin/keys/${first}`, { label: 'M' });
    const { id: second } = await send('POST', `/admin/keys/${first}/rotate`, { grace: '1h' });
    await send('POST', `/admin/keys/${second}/unban`);
    await send('POST', `/admin/keys/${second}/revoke`);
    await send('POST', `/admin/clients/${client}/suspend`);
    await send('POST', `/admin/clients/${client}/resume`);
    await send('DELETE', `/admin/clients/${client}`);
    const entries = await trail(`?client=${client}`);
    expect(entries.map(({ action, keyId }) => [action, keyId])).toEqual([
      ['client.deleted', null],
      ['client.resumed', null],
      ['client.suspended', null],
      ['api_key.revoked', second],
      ['api_key.rotated', first],
      ['api_key.updated', first],
      ['api_key.issued', first],
      ['client.created', null],
    ]);
    expect(entries[4]?.details).toEqual({
      replacedBy: second,
      prefix: expect.stringMatching(/^pst_test_\w{4}$/),
      expiresAt: '2026-11-21T12:00:10.250Z',
      oldExpiresAt: '2026-11-20T13:00:10.250Z',
    });
  });

  it('names the key and the webhook endpoint that were changed, by their prefix and label', async () => {
    const { service, adminKey, trail } = await open();
    const { id, key } = await service.issueKey();
    await commanded(service, 'key', 'update', id, '--label', 'Till');
    const json = {
      clientId: service.clientId,
      url: 'https://shop.example.com/secret',
      events: ['pets.created'],
    };
    const made = await service.request('POST', '/admin/webhooks', { key: adminKey, json });
    const names = async () =>
      (await trail()).slice(0, 2).map(({ keyPrefix, endpointName }) => [keyPrefix, endpointName]);
    expect(await names()).toEqual([
      [null, 'https://shop.example.com'],
      [key.slice(0, 13), null],
    ]);
    await commanded(service, 'webhook', 'update', String(made.body.id), '--label', 'Stock');
    expect((await names())[0]).toEqual([null, 'Stock']);
    const { stdout: out } = await printedBy(service, ['audit', 'list', '--limit', '3']);
    for (const shown of [key.slice(0, 13), 'Stock']) expect(out).toContain(shown);
    for (const hidden of [id, made.body.id]) expect(out).not.toContain(hidden);
  });

  it('has each ban that was lifted, and nothing of a key that was not banned', async () => {
    const { service, adminKey, trail } = await open();
    const { id: keyId, key } = await service.issueKey({ scopes: ['pets:read'] });
    const unban = () => service.request('POST', `/admin/keys/${keyId}/unban`, { key: adminKey });
    const before = await trail();
    expect((await unban()).status).toBe(200);
    expect(await trail()).toEqual(before);
    await service.app.get(ClientsService).update(service.clientId, { plan: 'free' }, SERVICE_ITSELF);
    const banned = await earnBan(service, key);
    const database = service.app.get(DataSource);
    await database.query('ALTER TABLE audit_entries RENAME TO away');
    await expect(service.app.get(ApiKeysService).unban(keyId, SERVICE_ITSELF)).rejects.toThrow(
      'audit_entries',
    );
    await database.query('ALTER TABLE away RENAME TO audit_entries');
    expect((await service.request('GET', '/v1/pets', { key })).body.code).toBe('api_key_banned');
    const { done } = await commanded(service, 'key', 'unban', keyId);
    expect(done).toBe(true);
    const [entry] = await latest(service, 1);
    const bannedUntil = new Date(service.clock.now() + Number(banned.headers.get('retry-after')) * 1_000);
    expect(entry).toMatchObject({
      action: 'api_key.unbanned',
      keyId,
      details: { bannedUntil: bannedUntil.toISOString() },
    });
  });

  it('records that a change was forced', async () => {
    const { service, adminId } = await open();
    const run = async (...args: string[]) => {
      const { done } = await commanded(service, ...args, '--force');
      expect([args, done]).toEqual([args, true]);
    };
    const { clientId: client } = await service.issueKey({ plan: 'free' });
    await run('key', 'update', adminId, '--expires', '1h');
    await run('key', 'rotate', adminId, '--expires', '1h');
    await run('key', 'revoke', adminId);
    await run('client', 'suspend', client);
    await run('client', 'delete', client);
    const entries = await latest(service, 5);
    expect(entries.map(({ action, details }) => [action, (details as { force?: boolean }).force])).toEqual(
      ['client.deleted', 'client.suspended', 'api_key.revoked', 'api_key.rotated', 'api_key.updated'].map(
        (action) => [action, true],
      ),
    );
  });

  it('does not have what was refused, or is so already, and nothing happens that it does not have', async () => {
    const { service, adminId, adminKey, trail } = await open();
    const { name, plan } = await service.app.get(ClientsService).get(service.clientId);
    const before = await trail();
    const { clientId } = service;
    for (const [method, path, json] of [
      ['PATCH', `/admin/clients/${clientId}`, { name, plan }],
      ['PATCH', `/admin/keys/${adminId}`, { label: null }],
      ['POST', `/admin/clients/${clientId}/resume`, {}],
    ] as const)
      await service.request(method, path, { key: adminKey, json });
    expect(await trail()).toEqual(before);
    await service.app.get(DataSource).query('ALTER TABLE audit_entries RENAME TO away');
    const rename = service.app.get(ClientsService).update(clientId, { name: 'X' }, SERVICE_ITSELF);
    await expect(rename).rejects.toThrow(/audit_entries/);
    expect((await service.app.get(ClientsService).get(clientId)).name).toBe('Test');
  });
});
