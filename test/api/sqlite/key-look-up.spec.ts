import { DataSource } from 'typeorm';
import { describe, expect, it, vi } from 'vitest';
import { ApiKey } from '../../../src/auth/clients/api-key.entity.js';
import { digestOf, generateApiKey } from '../../../src/auth/api-key.format.js';
import { ApiKeysService } from '../../../src/auth/clients/api-keys.service.js';
import { SERVICE_ITSELF } from '../../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../../src/auth/clients/clients.service.js';
import { KeyCache } from '../../../src/auth/clients/key-cache.js';
import { JsonReader } from '../../../src/database/database.js';
import { ApiError } from '../../../src/core/errors/api-error.js';
import { HTTP_ERRORS } from '../../../src/core/errors/http.errors.js';
import { TestService } from '../../kit/test-service.js';
import { openForTest } from '../../support/opened.js';

async function open(): Promise<{ service: TestService; queries: () => number }> {
  const service = await openForTest({ database: 'file' });
  const first = vi.spyOn(service.app.get(JsonReader, { strict: false }), 'first');
  return { service, queries: () => first.mock.calls.filter(([sql]) => sql.includes('digest')).length };
}

/** A credential that is refused in one way or another. */
async function refusedKey(service: TestService, kind: string): Promise<string | null> {
  if (kind === 'missing') return null;
  if (kind === 'malformed') return 'x';
  if (kind === 'unknown') return generateApiKey('test');
  const { id, clientId, key } = await service.issueKey({ plan: 'pro', expires: 60_000 });
  if (kind === 'revoked') await service.app.get(ApiKeysService).revoke(id, {}, SERVICE_ITSELF);
  if (kind === 'expired') service.clock.advance(60_000);
  if (kind === 'suspended') await service.app.get(ClientsService).suspend(clientId, {}, SERVICE_ITSELF);
  return key;
}

type Read = (...query: Parameters<JsonReader['first']>) => ReturnType<JsonReader['first']>;

const request = (service: TestService, key: string) => service.request('GET', '/v1/pets', { key });

describe('looking a key up', () => {
  it('finds the row that TypeORM finds, with its client', async () => {
    const { service } = await open();
    const { key } = await service.issueKey({ plan: 'pro', scopes: ['pets:read'], expires: 90_000 });
    const digest = digestOf(key);
    const expected = await service.app
      .get(DataSource)
      .manager.findOne(ApiKey, { where: { digest }, relations: { client: true } });
    const found = await service.app.get(KeyCache, { strict: false }).find(digest);
    expect(expected).toMatchObject({ ...found });
    expect(found?.client).toEqual(expected?.client);
  });

  it('is done once for requests that come together, and not for what lacks the checksum of a key', async () => {
    const { service, queries } = await open();
    for (const key of ['pst_test_x', `${service.key.slice(0, -1)}_`]) await request(service, key);
    expect(queries()).toBe(0);
    const { key } = await service.issueKey();
    await Promise.all(Array.from({ length: 20 }, () => request(service, key)));
    expect(queries()).toBe(1);
  });

  it('finds a key as soon as it is issued, even if it was looked up before', async () => {
    const { service } = await open();
    const { key } = await service.issueKey();
    const digest = digestOf(key);
    const manager = service.app.get(DataSource).manager;
    const row = await manager.findOneByOrFail(ApiKey, { digest });
    await manager.delete(ApiKey, { digest });
    expect((await request(service, key)).status).toBe(401);
    await manager.insert(ApiKey, row);
    expect((await request(service, key)).status).toBe(200);
  });
});

describe('an address that has used up its minute', () => {
  it('is looked up by one request at a time, in parallel with other keys; a failed lookup does not block the next', async () => {
    const { service } = await open();
    for (let sent = 0; sent < 60; sent += 1) await request(service, 'x');
    const reader = service.app.get(JsonReader, { strict: false });
    const first = Reflect.get(Object.getPrototypeOf(reader) as object, 'first') as Read;
    let [running, most, lookups] = [0, 0, 0];
    vi.spyOn(reader, 'first').mockImplementation(async (...query) => {
      // The service reads other things in the meantime.
      if (!query[0].includes('digest')) return Reflect.apply(first, reader, query);
      running += 1;
      most = Math.max(most, running);
      lookups += 1;
      if (lookups === 1) return Promise.reject(new Error('SQLITE_IOERR')).finally(() => (running -= 1));
      return Reflect.apply(first, reader, query).finally(() => (running -= 1));
    });
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async () => (await request(service, generateApiKey('test'))).status),
    );
    expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array.from({ length: 29 }, () => 429), 503]);
    expect(most).toBe(1);
  });
});

describe('a database that does not respond', () => {
  it.each([
    [
      'is busy',
      new ApiError(HTTP_ERRORS.service_unavailable, {
        params: { reason: 'the database is busy' },
        headers: { 'Retry-After': '1' },
      }),
    ],
    ['does not respond', new Error('SQLITE_IOERR: disk I/O error')],
  ])('that %s: 503 with Retry-After, without being counted', async (reason, failure) => {
    const { service } = await open();
    const { key } = await service.issueKey();
    const reader = service.app.get(JsonReader, { strict: false });
    const broken = vi.spyOn(reader, 'first').mockRejectedValue(failure);
    for (let sent = 0; sent < 5; sent += 1) {
      const { status, body, headers } = await request(service, key);
      expect([status, headers.get('x-ratelimit-remaining'), headers.get('retry-after')]).toEqual([
        503,
        '60',
        '1',
      ]);
      expect(body.message).toContain(`: the database ${reason}.`);
    }
    broken.mockRestore();
    expect((await request(service, key)).status).toBe(200);
    expect((await request(service, 'x')).headers.get('x-ratelimit-remaining')).toBe('59');
  });
});

it('a request counts for the address whose key is unknown, malformed, missing, revoked, expired or suspended', async () => {
  const { service } = await open();
  const kinds = ['unknown', 'malformed', 'missing', 'revoked', 'expired', 'suspended'];
  const keys = await Promise.all(kinds.map((kind) => refusedKey(service, kind)));
  for (const [at, key] of keys.entries()) {
    const { status, headers } = await service.request('GET', '/v1/pets', { key });
    expect([401, 403]).toContain(status);
    expect([kinds[at], headers.get('x-ratelimit-limit')]).toEqual([kinds[at], '60']);
    expect(headers.get('x-ratelimit-remaining')).toBe(String(59 - at));
  }
  for (let sent = keys.length; sent < 60; sent += 1) await request(service, 'x');
  for (const key of keys) {
    const { status, body } = await service.request('GET', '/v1/pets', { key });
    expect([status, body.code]).toEqual([429, 'rate_limit_exceeded']);
  }
});
