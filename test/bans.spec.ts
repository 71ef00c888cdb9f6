import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiKeysService } from '../src/auth/api-keys.service.js';
import { ClientsService } from '../src/auth/clients.service.js';
import { SERVICE_ITSELF } from '../src/auth/operator.js';
import { UsageService } from '../src/auth/usage.service.js';
import { Store, type Answer } from './support/store.js';

const MINUTE = 60_000;

async function open(): Promise<Store> {
  const store = await Store.open({ plan: 'free', at: '2026-11-20T12:00:00.000Z' });
  onTestFinished(() => store.close());
  return store;
}

const list = (store: Store, key?: string) =>
  store.request('GET', '/v1/pets?limit=1', key === undefined ? {} : { key });

/** Sends requests without waiting for anything, and answers the last. */
async function hammer(store: Store, times: number, key?: string): Promise<Answer> {
  for (let sent = 1; sent < times; sent += 1) await list(store, key);
  return list(store, key);
}

/** Uses up the minute, lets the forgiven two seconds pass, and goes on until the ban. */
async function earnBan(store: Store): Promise<Answer> {
  await hammer(store, 61);
  store.clock.advance(2_000);
  return hammer(store, 20);
}

describe('a key that goes on after 429', () => {
  it('is banned for five minutes at the twentieth strike, and told so exactly', async () => {
    const store = await open();
    await hammer(store, 61);
    store.clock.advance(2_000);
    expect((await hammer(store, 19)).body.code).toBe('rate_limit_exceeded');
    const { status, body, headers } = await list(store);
    expect([status, body.code]).toEqual([429, 'api_key_banned']);
    expect(body.message).toContain('banned until 2026-11-20T12:05:02.000Z');
    expect(headers.get('retry-after')).toBe('300');
    expect(headers.get('x-ratelimit-reset')).toBe(String(Date.parse('2026-11-20T12:05:02Z') / 1000));
    expect(headers.get('x-ratelimit-remaining')).toBe('0');
  });

  it('is admitted again at the end of the ban, with nothing used up meanwhile', async () => {
    const store = await open();
    await earnBan(store);
    store.clock.advance(5 * MINUTE - 1);
    expect((await hammer(store, 30)).body.code).toBe('api_key_banned');
    store.clock.advance(1);
    const { status, headers } = await list(store);
    expect([status, headers.get('ratelimit')]).toEqual([200, '"minute";r=59;t=58, "day";r=939;t=42898']);
  });

  it('is forgiven the first two seconds: those requests were in flight', async () => {
    const store = await open();
    await hammer(store, 60);
    store.clock.advance(10);
    expect((await hammer(store, 100)).body.code).toBe('rate_limit_exceeded');
    store.clock.advance(1_999);
    expect((await hammer(store, 100)).body.code).toBe('rate_limit_exceeded');
  });

  it('climbs the ladder: 5, 15, 60 minutes, 24 hours, 24 hours', async () => {
    const store = await open();
    const lengths = [];
    for (let rung = 0; rung < 5; rung += 1) {
      const banned = await earnBan(store);
      lengths.push(Number(banned.headers.get('retry-after')));
      // To the end of the ban, and to the beginning of the next minute.
      store.clock.advance(Number(banned.headers.get('retry-after')) * 1_000 + MINUTE);
      store.clock.set(new Date(Math.floor(store.clock.now() / MINUTE) * MINUTE).toISOString());
    }
    expect(lengths).toEqual([300, 900, 3_600, 86_400, 86_400]);
  });

  it('begins the ladder anew after a day without strikes', async () => {
    const store = await open();
    await earnBan(store);
    store.clock.set('2026-11-21T12:06:00.000Z');
    expect((await earnBan(store)).headers.get('retry-after')).toBe('300');
  });

  it('is banned alone: another key of the client is not', async () => {
    const store = await open();
    const { key } = await store.issueKey();
    await earnBan(store);
    store.clock.advance(MINUTE);
    expect((await list(store)).body.code).toBe('api_key_banned');
    expect((await list(store, key)).status).toBe(200);
  });

  it('is shown to the operator, and let off by unban', async () => {
    const store = await open();
    const { items } = await store.app.get(ApiKeysService).list({ limit: 1 });
    const [apiKey] = items;
    const client = await store.app.get(ClientsService).get(store.clientId);
    await earnBan(store);
    const { bans } = await store.app.get(UsageService).of(client);
    expect(bans).toEqual([{ keyId: apiKey?.id, bannedUntil: '2026-11-20T12:05:02.000Z' }]);
    await store.app.get(ApiKeysService).unban(apiKey?.id ?? '', SERVICE_ITSELF);
    store.clock.advance(MINUTE);
    expect((await list(store)).status).toBe(200);
    expect((await store.app.get(UsageService).of(client)).bans).toEqual([]);
  });

  it('is never banned for a 403, nor an address for anything', async () => {
    const store = await open();
    const { key } = await store.issueKey({ scopes: ['pets:write'] });
    expect((await hammer(store, 80, key)).status).toBe(403);
    for (let sent = 0; sent < 120; sent += 1) await store.request('GET', '/v1/pets', { key: null });
    store.clock.advance(3_000);
    for (let sent = 0; sent < 30; sent += 1) {
      expect((await store.request('GET', '/v1/pets', { key: null })).body.code).toBe('rate_limit_exceeded');
    }
  });
});
