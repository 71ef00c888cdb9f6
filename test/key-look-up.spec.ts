import { DataSource } from 'typeorm';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ApiKey } from '../src/accounts/api-key.entity.js';
import { digestOf, generateApiKey } from '../src/accounts/api-key.format.js';
import { ApiKeysService } from '../src/accounts/api-keys.service.js';
import { ClientsService } from '../src/accounts/clients.service.js';
import { SERVICE_ITSELF } from '../src/accounts/operator.js';
import { KeyLookUp } from '../src/auth/key-look-up.js';
import { JsonReader } from '../src/database/json-reader.js';
import { ApiError } from '../src/errors/api-error.js';
import { HTTP_ERRORS } from '../src/errors/http.errors.js';
import { emptyFolder } from './support/service-process.js';
import { Store, type StoreOptions } from './support/store.js';

async function open(options: StoreOptions = {}): Promise<{ store: Store; looked: () => number }> {
  const folder = await emptyFolder();
  const environment = { DATABASE_URL: `sqlite:${folder.path}/data.sqlite`, ...options.environment };
  const store = await Store.open({ ...options, environment });
  onTestFinished(async () => {
    await store.close();
    await folder.remove();
  });
  const first = vi.spyOn(store.app.get(JsonReader, { strict: false }), 'first');
  onTestFinished(() => first.mockRestore());
  return { store, looked: () => first.mock.calls.filter(([sql]) => sql.includes('digest')).length };
}

/** A credential that is refused in one way or another. */
async function refusedKey(store: Store, kind: string): Promise<string | null> {
  if (kind === 'missing') return null;
  if (kind === 'malformed') return 'x';
  if (kind === 'unknown') return generateApiKey('test');
  const { id, key } = await store.issueKey({ plan: 'pro', expires: 60_000 });
  if (kind === 'revoked') await store.app.get(ApiKeysService).revoke(id, {}, SERVICE_ITSELF);
  if (kind === 'expired') store.clock.advance(60_000);
  if (kind === 'suspended') {
    const { clientId } = await store.app.get(ApiKeysService).get(id);
    await store.app.get(ClientsService).suspend(clientId, {}, SERVICE_ITSELF);
  }
  return key;
}

type Read = (...query: Parameters<JsonReader['first']>) => ReturnType<JsonReader['first']>;

const ask = (store: Store, key: string) => store.request('GET', '/v1/pets', { key });

describe('looking a key up', () => {
  it('finds the very row that TypeORM finds, with its client', async () => {
    const { store } = await open();
    const { key } = await store.issueKey({ plan: 'pro', scopes: ['pets:read'], expires: 90_000 });
    const digest = digestOf(key);
    const expected = await store.app
      .get(DataSource)
      .manager.findOne(ApiKey, { where: { digest }, relations: { client: true } });
    const { key: found } = await store.app.get(KeyLookUp, { strict: false }).find(digest);
    expect(found).toEqual(expected);
    expect(found?.client.limits).toEqual({ perMinute: 300, perDay: 10_000 });
  });

  it('is done once for requests that come together', async () => {
    const { store, looked } = await open();
    const { key } = await store.issueKey();
    await Promise.all(Array.from({ length: 20 }, () => ask(store, key)));
    expect(looked()).toBe(1);
  });

  it('is not done again for a key that nobody issued, until something changes', async () => {
    const { store, looked } = await open();
    const unknown = generateApiKey('test');
    for (let sent = 0; sent < 5; sent += 1) expect((await ask(store, unknown)).status).toBe(401);
    expect(looked()).toBe(1);
    await store.issueKey();
    expect((await ask(store, unknown)).status).toBe(401);
    expect(looked()).toBe(2);
  });

  it('is not done at all for a string without the checksum of a key', async () => {
    const { store, looked } = await open();
    for (const key of ['pst_test_x', `${store.key.slice(0, -1)}_`]) await ask(store, key);
    expect(looked()).toBe(0);
  });

  it('finds a key as soon as it is issued, though it was asked for before', async () => {
    const { store } = await open();
    const { key } = await store.issueKey();
    const digest = digestOf(key);
    const manager = store.app.get(DataSource).manager;
    const row = await manager.findOneByOrFail(ApiKey, { digest });
    await manager.delete(ApiKey, { digest });
    expect((await ask(store, key)).status).toBe(401);
    await manager.insert(ApiKey, row);
    expect((await ask(store, key)).status).toBe(200);
  });
});

describe('an address that has used up its minute', () => {
  it('is refused for unknown keys, and not for a valid one that was never seen', async () => {
    const { store } = await open();
    for (let sent = 0; sent < 60; sent += 1)
      expect((await ask(store, generateApiKey('test'))).status).toBe(401);
    expect((await ask(store, generateApiKey('test'))).status).toBe(429);
    const { key } = await store.issueKey();
    const { status, headers } = await ask(store, key);
    expect([status, headers.get('x-ratelimit-limit')]).toEqual([200, '1000']);
  });

  it('is looked up one request at a time, beside others', async () => {
    const { store } = await open();
    for (let sent = 0; sent < 60; sent += 1) await ask(store, 'x');
    const reader = store.app.get(JsonReader, { strict: false });
    const first = Reflect.get(Object.getPrototypeOf(reader) as object, 'first') as Read;
    let running = 0;
    let most = 0;
    const counted = vi.spyOn(reader, 'first').mockImplementation(async (...query) => {
      running += 1;
      most = Math.max(most, running);
      return Reflect.apply(first, reader, query).finally(() => (running -= 1));
    });
    onTestFinished(() => counted.mockRestore());
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async () => (await ask(store, generateApiKey('test'))).status),
    );
    expect(new Set(statuses)).toEqual(new Set([429]));
    expect(most).toBe(1);
  });
});

describe('a database that does not answer', () => {
  it.each([
    [
      'is busy',
      new ApiError(HTTP_ERRORS.service_unavailable, {
        params: { reason: 'the database is busy' },
        headers: { 'Retry-After': '1' },
      }),
    ],
    ['does not answer', new Error('SQLITE_IOERR: disk I/O error')],
  ])('that %s: 503 with Retry-After, counted for nobody', async (reason, failure) => {
    const { store } = await open();
    const { key } = await store.issueKey();
    const reader = store.app.get(JsonReader, { strict: false });
    const broken = vi.spyOn(reader, 'first').mockRejectedValue(failure);
    for (let sent = 0; sent < 70; sent += 1) {
      const { status, body, headers } = await ask(store, key);
      expect([status, headers.get('x-ratelimit-remaining'), headers.get('retry-after')]).toEqual([
        503,
        '60',
        '1',
      ]);
      expect(body.message).toContain(`: the database ${reason}.`);
    }
    broken.mockRestore();
    expect((await ask(store, key)).status).toBe(200);
    expect((await ask(store, 'x')).headers.get('x-ratelimit-remaining')).toBe('59');
  });
});

describe('what counts for the address', () => {
  it.each(['unknown', 'malformed', 'missing', 'revoked', 'expired', 'suspended'])(
    'is a key that is %s',
    async (kind) => {
      const { store } = await open();
      const key = await refusedKey(store, kind);
      const { status, headers } = await store.request('GET', '/v1/pets', { key });
      expect([401, 403]).toContain(status);
      expect(headers.get('x-ratelimit-limit')).toBe('60');
      expect(headers.get('x-ratelimit-remaining')).toBe('59');
      for (let sent = 1; sent < 60; sent += 1) await store.request('GET', '/v1/pets', { key });
      const { status: last, body } = await store.request('GET', '/v1/pets', { key });
      expect([last, body.code]).toEqual([429, 'rate_limit_exceeded']);
    },
  );
});
