import { describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../src/auth/clients/api-keys.service.js';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { KeyIssuingService } from '../../src/auth/clients/key-issuing.service.js';
import { ClientRequests } from '../../src/auth/usage/client-requests.service.js';
import { openForTest } from '../support/opened.js';

const HOUR = 3_600_000;

async function open() {
  const service = await openForTest({ plan: 'free', at: '2026-11-20T12:00:00.000Z' });
  const keys = service.app.get(ApiKeysService);
  const issuing = service.app.get(KeyIssuingService);
  const codeOf = async (key: string) => {
    const { status, body } = await service.request('GET', '/v1/pets?limit=1', { key });
    return status === 200 ? 200 : (body.code as string);
  };
  return { service, keys, issuing, clients: service.app.get(ClientsService), codeOf };
}

describe('a rotated key', () => {
  it('is not rotated when it has ended', async () => {
    const { service, issuing } = await open();
    const { id } = await service.issueKey({ expires: HOUR });
    service.clock.advance(HOUR);
    await expect(issuing.rotate(id, { grace: 0 }, SERVICE_ITSELF)).rejects.toThrow(/ expired at 2026-/);
  });

  it('is rotated once, no matter how many requests arrive at the same instant', async () => {
    const { service, keys, issuing } = await open();
    const { id } = await service.issueKey();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => issuing.rotate(id, { grace: HOUR }, SERVICE_ITSELF)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await keys.list({ limit: 100 })).items).toHaveLength(3);
  });
});

describe('the lifetime of the key that follows', () => {
  it.each([
    ['10 hours', 10 * HOUR, '2026-11-20T22:00:00.000Z'],
    ['no end', undefined, null],
  ])('is %s, as for the old one, although its end was brought forward', async (_, expires, expected) => {
    const { service, keys, issuing } = await open();
    const { id } = await service.issueKey(expires === undefined ? {} : { expires });
    await keys.update(id, { expires: HOUR }, {}, SERVICE_ITSELF);
    expect((await issuing.rotate(id, { grace: 0 }, SERVICE_ITSELF)).apiKey.expiresAt).toBe(expected);
  });
});

describe.each(['admin', 'account'])('a key with an end, under /%s', (audience) => {
  const END = '2026-11-20T20:00:00.000Z';

  async function openWithEnd() {
    const { service, keys } = await open();
    const { id, key } = await service.issueKey({ scopes: [audience, 'pets:read'], expires: 8 * HOUR });
    const whose = audience === 'admin' ? { clientId: service.clientId } : {};
    const order = (path: string, json: object) =>
      service.request('POST', `/${audience}/keys${path}`, { key, json });
    const issue = (json: object = {}) => order('', { scopes: ['pets:read'], ...whose, ...json });
    return { service, keys, id, key, order, issue };
  }

  it('creates keys that end with it, unless an earlier end is named', async () => {
    const { issue, service } = await openWithEnd();
    expect((await issue()).body.expiresAt).toBe(END);
    expect((await issue({ expires: '1h' })).body.expiresAt).toBe('2026-11-20T13:00:00.000Z');
    service.clock.advance(HOUR);
    expect((await issue({ expires: '7h' })).body.expiresAt).toBe(END);
  });

  it('is refused a later end, with the latest that it may name', async () => {
    const { issue, order, keys, id, service } = await openWithEnd();
    service.clock.advance(1);
    const code = 'later_than_own_end';
    for (const { status, body } of [
      await issue({ expires: '8h' }),
      await order(`/${id}/rotate`, { grace: '1h', expires: '8h' }),
    ])
      expect([status, body.details]).toEqual([
        400,
        [{ field: 'expires', code, message: expect.stringContaining(END) }],
      ]);
    expect((await keys.list({ limit: 100 })).items).toHaveLength(2);
  });

  it('rotates itself and others into keys that end with it, also when its end was brought forward', async () => {
    const { order, keys, id, service } = await openWithEnd();
    const other = await service.issueKey({ scopes: ['pets:read'] });
    const rotated = await order(`/${other.id}/rotate`, { grace: '24h' });
    expect([rotated.status, rotated.body.expiresAt]).toEqual([201, END]);
    await keys.update(id, { expires: 2 * HOUR }, { force: true }, SERVICE_ITSELF);
    const successor = await order(`/${id}/rotate`, { grace: '24h' });
    expect([successor.status, successor.body.expiresAt]).toEqual([201, '2026-11-20T14:00:00.000Z']);
    // The old one neither outlives its own end nor makes what does.
    expect((await keys.get(id)).expiresAt).toBe('2026-11-20T14:00:00.000Z');
    service.clock.advance(HOUR);
    const again = await service.request('POST', `/${audience}/keys/${successor.body.id}/rotate`, {
      key: successor.body.key,
      json: { grace: '24h' },
    });
    expect([again.status, again.body.expiresAt]).toEqual([201, '2026-11-20T14:00:00.000Z']);
  });
});

describe('a suspended client', () => {
  it('gets 403 for each of its keys, counts for the address, and works again once resumed', async () => {
    const { service, clients, codeOf } = await open();
    const { key } = await service.issueKey();
    await codeOf(key);
    await clients.suspend(service.clientId, {}, SERVICE_ITSELF);
    for (const [index, one] of [key, service.key].entries()) {
      const { status, body, headers } = await service.request('GET', '/v1/pets', { key: one });
      expect([status, body.code]).toEqual([403, 'client_suspended']);
      expect(headers.get('www-authenticate')).toBe('Bearer realm="petstore"');
      expect(headers.get('ratelimit')).toMatch(new RegExp(`^"minute";r=${59 - index};`));
    }
    await clients.resume(service.clientId, SERVICE_ITSELF);
    expect([await codeOf(key), await codeOf(service.key)]).toEqual([200, 200]);
  });

  it('gets that reason only if the key is genuine and has not ended; a deleted client no longer has keys', async () => {
    const { service, keys, clients, codeOf } = await open();
    const { id, key } = await service.issueKey();
    await keys.revoke(id, {}, SERVICE_ITSELF);
    await clients.suspend(service.clientId, {}, SERVICE_ITSELF);
    expect(await codeOf(key)).toBe('revoked_api_key');
    expect(await codeOf(`pst_test_${'0'.repeat(30)}2Wj70T`)).toBe('invalid_api_key');
    await clients.delete(service.clientId, {}, SERVICE_ITSELF);
    expect(await codeOf(service.key)).toBe('invalid_api_key');
  });
});

it('the last use of a key is not that of a request which was refused for the key itself', async () => {
  const { service, keys, clients, codeOf } = await open();
  const { id, key } = await service.issueKey();
  const written = async () => {
    await service.app.get(ClientRequests).flush();
    return (await keys.get(id)).lastUsedAt;
  };
  await clients.suspend(service.clientId, {}, SERVICE_ITSELF);
  expect([await codeOf(key), await written()]).toEqual(['client_suspended', null]);
  // Also when its address may send no more, which is refused for the address.
  for (let sent = 0; sent < 61; sent += 1) await codeOf(key);
  expect([await codeOf(key), await written()]).toEqual(['rate_limit_exceeded', null]);
  await clients.resume(service.clientId, SERVICE_ITSELF);
  expect([await codeOf(key), await written()]).toEqual([200, '2026-11-20T12:00:00.000Z']);
});
