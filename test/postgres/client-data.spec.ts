import { DataSource } from 'typeorm';
import { expect, it } from 'vitest';
import { AuditEntry } from '../../src/auth/audit/audit-entry.entity.js';
import { ClientAlert } from '../../src/auth/clients/client-alert.entity.js';
import { ClientRequests } from '../../src/auth/usage/client-requests.service.js';
import { RefusedRequest } from '../../src/auth/usage/client-requests.entity.js';
import { Sweeper } from '../../src/database/sweeper.js';
import { printedBy } from '../support/orders.js';
import { databaseOf, openForAll } from '../support/opened.js';

const service = await openForAll({ database: 'file', scopes: ['admin', 'pets:read', 'pets:write'] });
const { app } = service;
const other = await openForAll({ environment: databaseOf(service), scopes: ['admin'] });

/** Makes a client that has done something of each kind; `via` is the instance that it calls. */
async function busyClient(via = service) {
  const scopes = ['account', 'pets:read', 'pets:write'];
  const { clientId, key } = await service.issueKey({ plan: 'business', scopes });
  await service.request('PATCH', `/admin/clients/${clientId}`, { json: { name: 'Erika Mustermann' } });
  await service.request('PATCH', `/account/keys/${(await keysOf(key))[0]?.id}`, {
    key,
    json: { label: 'Erika' },
  });
  const json = { url: 'https://erika.example.com/hooks', events: ['pets.created'], label: 'Erikas Laden' };
  const made = await service.request('POST', '/account/webhooks', { key, json });
  await service.request('POST', `/account/webhooks/${made.body.id}/test`, { key });
  const headers = { 'Idempotency-Key': `of-${clientId}` };
  await service.request('POST', '/v1/pets', { key, json: { name: 'Biscuit', categoryId: 1 }, headers });
  await via.request('GET', '/v1/none', { key });
  return { clientId, key, secret: String(made.body.secret) };
}
const keysOf = async (key: string) =>
  (await service.request('GET', '/account/keys', { key })).body as { id: string }[];
const written = (via = service) => via.app.get(ClientRequests).flush();
const errorsOf = (clientId: string) => service.repository(RefusedRequest).countBy({ clientId });

it('the data of a client is exported, without secrets', async () => {
  const { clientId, key, secret } = await busyClient();
  await written();
  const { status, headers, body, text } = await service.request('GET', `/admin/clients/${clientId}/export`);
  expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining('application/json')]);
  expect(body).toMatchObject({
    client: { id: clientId, name: 'Erika Mustermann' },
    keys: [{ clientId, label: 'Erika' }],
    errors: [{ operation: 'unmatched', status: 404, address: '127.0.0.1' }],
    webhooks: [{ label: 'Erikas Laden' }],
    deliveries: expect.arrayContaining([
      expect.objectContaining({ message: expect.objectContaining({ event: 'webhook.test' }) }),
    ]),
    idempotencyKeys: [{ key: `of-${clientId}` }],
  });
  for (const { start } of body.requests) expect(new Date(start).toISOString()).toBe(start);
  const printed = await printedBy(service, ['client', 'export', clientId]);
  const { client, requests, keys } = body;
  expect(JSON.parse(printed.stdout)).toMatchObject({ client, requests, keys });
  expect(body.requests.length).toBeGreaterThan(0);
  expect(body.audit.map(({ action }: { action: string }) => action)).toEqual(
    expect.arrayContaining([
      'client.created',
      'client.updated',
      'api_key.issued',
      'webhook_endpoint.created',
    ]),
  );
  for (const hidden of [key, secret, 'whsec_']) expect(text.includes(hidden), hidden).toBe(false);
  const none = await service.request(
    'GET',
    `/admin/clients/${'0'.repeat(8)}-0000-4000-8000-000000000000/export`,
  );
  expect(none.body.code).toBe('client_not_found');
});

it('a deletion also removes the last errors, including those that another instance has not written yet', async () => {
  const { clientId } = await busyClient(other);
  const { clientId: otherId } = await busyClient(other);
  await busyClient();
  await written();
  expect((await service.request('DELETE', `/admin/clients/${clientId}`)).status).toBe(200);
  await written(other);
  expect([await errorsOf(clientId), await errorsOf(otherId)]).toEqual([0, 1]);
});

it('a deletion also removes what operators are alerted to, including what another instance has not written yet', async () => {
  const alertsOf = (clientId: string) => service.repository(ClientAlert).countBy({ clientId });
  const { clientId, key } = await service.issueKey({ plan: 'business', scopes: ['pets:read'] });
  const call = async (via: typeof service) => {
    await via.request('GET', '/v1/pets/1', { key });
    return written(via);
  };
  await call(service);
  expect(await alertsOf(clientId)).toBe(1);
  await other.request('GET', '/v1/pets/1', { key });
  expect((await service.request('DELETE', `/admin/clients/${clientId}`)).status).toBe(200);
  await written(other);
  expect(await alertsOf(clientId)).toBe(0);
});

it('errors of clients that were deleted before are swept', async () => {
  const { clientId } = await busyClient();
  await written();
  await app.get(DataSource).query(`DELETE FROM clients WHERE id = '${clientId}'`);
  expect(await errorsOf(clientId)).toBe(1);
  await app.get(Sweeper).sweep();
  expect(await errorsOf(clientId)).toBe(0);
});

it('the author of a change stays known after its own client was deleted, until that is erased', async () => {
  const { clientId, id, key } = await service.issueKey({ plan: 'business', scopes: ['admin'] });
  await service.request('PATCH', `/admin/clients/${clientId}`, { json: { name: 'Erika' } });
  const json = { name: 'Shop', plan: 'free' };
  const { body: shop } = await service.request('POST', '/admin/clients', { key, json });
  const entry = async () => (await service.request('GET', `/admin/audit?client=${shop.id}`)).body[0];
  const known = await entry();
  expect(known.actorName).toBe(`${key.slice(0, 13)}… (Erika)`);
  await service.request('DELETE', `/admin/clients/${clientId}`);
  expect(await entry()).toEqual(known);
  const csv = await service.request('GET', `/admin/audit/export?actorKey=${id}`);
  expect(csv.text).toContain(known.actorName);
  const erase = async () => (await service.request('POST', `/admin/clients/${clientId}/erase`)).body.entries;
  expect(await erase()).toBeGreaterThan(0);
  expect(await entry()).toEqual({ ...known, actorName: null });
  const erasures = () => service.repository(AuditEntry).countBy({ clientId, action: 'client.erased' });
  expect([await erase(), await erasures()]).toEqual([0, 1]);
});

it('the names of a deleted client and the addresses of its keys are erased from the audit trail', async () => {
  const { clientId } = await busyClient();
  const erase = () => service.request('POST', `/admin/clients/${clientId}/erase`);
  expect((await erase()).body.code).toBe('client_not_deleted');
  await service.request('DELETE', `/admin/clients/${clientId}`);
  const before = await service.repository(AuditEntry).find({ where: { clientId }, order: { id: 'ASC' } });
  expect(JSON.stringify(before.map(({ details }) => details))).toContain('Erika');
  const { status, body } = await erase();
  expect([status, body]).toEqual([200, { id: clientId, entries: before.length }]);
  const after = await service.repository(AuditEntry).find({ where: { clientId }, order: { id: 'ASC' } });
  expect(after.map(({ id, at, action }) => [id, at, action]).slice(0, -1)).toEqual(
    before.map(({ id, at, action }) => [id, at, action]),
  );
  expect(after.at(-1)?.action).toBe('client.erased');
  expect(JSON.stringify(after.map(({ details }) => details))).not.toMatch(/erika/i);
  const own = after.filter(({ actorKeyId }) =>
    after.some(({ keyId }) => keyId !== null && keyId === actorKeyId),
  );
  expect(own.length).toBeGreaterThan(0);
  expect(own.every(({ from, requestId }) => from === null && requestId === null)).toBe(true);
});

it('a client is deleted and erased from the audit trail in one step', async () => {
  const { clientId } = await busyClient();
  expect((await service.request('DELETE', `/admin/clients/${clientId}?erase=true`)).status).toBe(200);
  const entries = await service.repository(AuditEntry).find({ where: { clientId }, order: { id: 'ASC' } });
  expect(entries.map(({ action }) => action).slice(-2)).toEqual(['client.deleted', 'client.erased']);
  expect(JSON.stringify(entries.map(({ details }) => details))).not.toMatch(/erika/i);
});
