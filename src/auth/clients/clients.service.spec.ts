import { beforeEach, describe, expect, it } from 'vitest';
import { type ServiceParts, openParts } from '../../../test/support/service-parts.js';
import { SERVICE_ITSELF } from './audited-changes.js';
import { defineScopes } from './scopes.js';

defineScopes('shelves', { read: 'Read shelves.' });

const NOBODY = '00000000-0000-0000-0000-000000000000';
const AT = '2026-11-20T12:00:10.250Z';
const ENTERPRISE = { name: 'Big', plan: 'enterprise', perMinute: 10, perDay: 20 } as const;

let parts: ServiceParts;
let clients: ServiceParts['clients'];

beforeEach(async () => {
  parts = await openParts();
  ({ clients } = parts);
});

const create = (of: Parameters<typeof clients.create>[0] = { name: 'Shop', plan: 'pro' }) =>
  clients.create(of, SERVICE_ITSELF);
const update = (id: string, changes: Parameters<typeof clients.update>[1]) =>
  clients.update(id, changes, SERVICE_ITSELF);
/** What the audit trail has, latest first. */
const trail = async () =>
  (await parts.audit.list({ limit: 100 })).items.map(({ action, clientId, keyId, details }) => ({
    action,
    clientId,
    keyId,
    details,
  }));

describe('a client', () => {
  it('is there once it is made, with its line of the audit trail', async () => {
    const made = await create();
    const row = {
      name: 'Shop',
      plan: 'pro',
      perMinute: null,
      perDay: null,
      createdAt: AT,
      suspendedAt: null,
    };
    expect(made).toMatchObject(row);
    expect(await clients.get(made.id)).toEqual(made);
    expect(made.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(await trail()).toEqual([
      {
        action: 'client.created',
        clientId: made.id,
        keyId: null,
        details: { name: 'Shop', plan: 'pro', perMinute: 300, perDay: 10_000 },
      },
    ]);
  });

  it('is made by the service itself at its first start', async () => {
    await create();
    expect((await parts.audit.list({ limit: 1 })).items).toMatchObject([
      { actor: 'service', actorKeyId: null, from: null, requestId: null },
    ]);
  });

  it('has its own limits with the plan enterprise, and needs them', async () => {
    const { id } = await create(ENTERPRISE);
    expect(clients.limitsOf(await clients.get(id))).toEqual({ perMinute: 10, perDay: 20 });
    await expect(create({ name: 'Big', plan: 'enterprise' })).rejects.toMatchObject({
      code: 'validation_failed',
    });
    expect(await clients.count()).toBe(1);
  });

  it('is listed with the others, oldest first', async () => {
    const ids = [];
    for (const name of ['A', 'B', 'C']) {
      ids.push((await create({ name, plan: 'free' })).id);
      parts.clock.advance(1);
    }
    expect(await clients.count()).toBe(3);
    const first = await clients.list({ limit: 2 });
    expect(first.items.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const rest = await clients.list({ limit: 2, ...(first.next ? { after: first.next } : {}) });
    expect(rest).toMatchObject({ items: [{ id: ids[2] }] });
  });

  it.each([
    ['shown', (id: string) => clients.get(id)],
    ['changed', (id: string) => update(id, { name: 'A' })],
    ['suspended', (id: string) => clients.suspend(id, {}, SERVICE_ITSELF)],
    ['resumed', (id: string) => clients.resume(id, SERVICE_ITSELF)],
    ['deleted', (id: string) => clients.delete(id, {}, SERVICE_ITSELF)],
  ])('cannot be %s when it is not there', async (_, order) => {
    await expect(order(NOBODY)).rejects.toMatchObject({
      code: 'client_not_found',
      message: `There is no client ${NOBODY}.`,
    });
    expect(await trail()).toEqual([]);
  });
});

describe('a change of a client', () => {
  it('keeps what is not named, and tells what it was and became', async () => {
    const { id } = await create();
    expect(await update(id, { name: 'New' })).toMatchObject({ name: 'New', plan: 'pro' });
    expect(await update(id, { plan: 'free' })).toMatchObject({ name: 'New', plan: 'free' });
    expect(await clients.get(id)).toMatchObject({ name: 'New', plan: 'free', perMinute: null, perDay: null });
    const [second, first] = await trail();
    expect(first).toEqual({
      action: 'client.updated',
      clientId: id,
      keyId: null,
      details: { name: { from: 'Shop', to: 'New' } },
    });
    expect(second?.details).toEqual({
      plan: { from: 'pro', to: 'free' },
      perMinute: { from: 300, to: 60 },
      perDay: { from: 10_000, to: 1_000 },
    });
  });

  it.each([
    ['the minute', { perMinute: 99 }, { perMinute: 99, perDay: 20 }],
    ['the day', { perDay: 99 }, { perMinute: 10, perDay: 99 }],
    ['the plan that it has', { plan: 'enterprise', perDay: 99 }, { perMinute: 10, perDay: 99 }],
    ['the name', { name: 'Bigger' }, { name: 'Bigger', perMinute: 10, perDay: 20 }],
    ['another plan', { plan: 'free' }, { plan: 'free', perMinute: null, perDay: null }],
  ] as const)('that has limits of its own may be of %s alone', async (_, changes, expected) => {
    const { id } = await create(ENTERPRISE);
    await update(id, changes);
    expect(await clients.get(id)).toMatchObject(expected);
  });

  it.each([
    [
      'nothing',
      {},
      { field: '', code: 'required', message: 'Name at least one change: name, plan, perMinute, perDay.' },
    ],
    [
      'one limit of a plan that needs both',
      { plan: 'enterprise', perDay: 9 },
      { field: 'perMinute', code: 'required' },
    ],
    ['a limit of a plan that has its own', { perDay: 9 }, { field: 'perDay', code: 'not_allowed' }],
  ] as const)('cannot be %s', async (_, changes, fault) => {
    const { id } = await create();
    await expect(update(id, changes)).rejects.toMatchObject({
      code: 'validation_failed',
      body: { details: [expect.objectContaining(fault)] },
    });
    expect(await clients.get(id)).toMatchObject({ name: 'Shop', plan: 'pro' });
  });

  it('is made with its line of the audit trail, or not at all, and only then told', async () => {
    const { id } = await create();
    const told: unknown[] = [];
    parts.emitter.on('client.updated', (event) => told.push(event));
    await parts.dataSource.query('ALTER TABLE audit_entries RENAME TO away');
    await expect(update(id, { name: 'New' })).rejects.toThrow('audit_entries');
    expect((await clients.get(id)).name).toBe('Shop');
    await parts.dataSource.query('ALTER TABLE away RENAME TO audit_entries');
    await update(id, { name: 'New' });
    await expect.poll(() => told).toStrictEqual([{ clientId: id }]);
  });
});

describe('a suspended client', () => {
  it('is so from now on, until it is resumed', async () => {
    const { id } = await create();
    expect(await clients.suspend(id, {}, SERVICE_ITSELF)).toMatchObject({ id, suspendedAt: AT });
    expect(await clients.get(id)).toMatchObject({ name: 'Shop', suspendedAt: AT });
    parts.clock.advance(1_000);
    expect(await clients.resume(id, SERVICE_ITSELF)).toMatchObject({ id, suspendedAt: null });
    expect((await clients.get(id)).suspendedAt).toBeNull();
    const [resumed, suspended] = await trail();
    expect(suspended).toEqual({
      action: 'client.suspended',
      clientId: id,
      keyId: null,
      details: { suspendedAt: AT },
    });
    expect(resumed).toEqual({
      action: 'client.resumed',
      clientId: id,
      keyId: null,
      details: { suspendedAt: AT },
    });
  });

  it('cannot be suspended twice, nor resumed when it is not', async () => {
    const { id } = await create();
    await expect(clients.resume(id, SERVICE_ITSELF)).rejects.toThrow(`The client ${id} is not suspended.`);
    await clients.suspend(id, {}, SERVICE_ITSELF);
    parts.clock.advance(1_000);
    await expect(clients.suspend(id, {}, SERVICE_ITSELF)).rejects.toThrow(
      `The client ${id} was suspended at ${AT} already.`,
    );
  });
});

it('a deleted client is gone with its keys, and is still in the audit trail', async () => {
  const { id } = await create();
  const other = await create({ name: 'Other', plan: 'free' });
  const { apiKey } = await parts.issuing.issue({ clientId: id, scopes: ['shelves:read'] }, SERVICE_ITSELF);
  expect(await clients.delete(id, {}, SERVICE_ITSELF)).toMatchObject({ id, name: 'Shop' });
  await expect(clients.get(id)).rejects.toMatchObject({ code: 'client_not_found' });
  await expect(parts.keys.get(apiKey.id)).rejects.toMatchObject({ code: 'key_not_found' });
  expect(await clients.get(other.id)).toEqual(other);
  expect((await trail())[0]).toEqual({
    action: 'client.deleted',
    clientId: id,
    keyId: null,
    details: { name: 'Shop', plan: 'pro' },
  });
});
