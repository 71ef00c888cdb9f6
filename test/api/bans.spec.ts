import { describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../src/auth/clients/api-keys.service.js';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { UsageService } from '../../src/auth/usage/usage.service.js';
import { asClient, startAt } from '../support/as-client.js';
import { earnBan, goOn, hammer } from '../support/earn-ban.js';
import { databaseOfTest } from '../support/service-process.js';
import { type TestResponse, TestService } from '../kit/test-service.js';
import { openForAll } from '../support/opened.js';

const MINUTE = 60_000;

const shared = await openForAll();

async function open(): Promise<TestService> {
  await startAt(shared, '2026-11-20T12:00:00.000Z');
  return asClient(shared, { plan: 'free' });
}

const list = (service: TestService, key?: string) =>
  service.request('GET', '/v1/pets?limit=1', key === undefined ? {} : { key });

describe('a key that continues after 429', () => {
  it('is banned for five minutes at the twentieth strike, with the exact end in the response', async () => {
    const service = await open();
    await hammer(service, 61);
    service.clock.advance(2_000);
    expect((await goOn(service, 19)).body.code).toBe('rate_limit_exceeded');
    service.clock.advance(1_000);
    const { status, body } = await list(service);
    expect([status, body.code]).toEqual([429, 'api_key_banned']);
    expect(body.message).toContain('banned until 2026-11-20T12:05:21.000Z');
    expect(body.message).toContain('retry in 300 s.');
    for (const [verdict, times] of [
      ['admitted', 60],
      ['refused', 20],
      ['banned', 1],
    ] as const)
      expect(await service.metric('petstore_quota_verdicts_total', { plan: 'free', verdict })).toBe(times);
  });

  it('gets the same end of the ban in every header and in the message, in this minute and the next', async () => {
    const service = await open();
    let { headers, body } = await earnBan(service);
    for (const seconds of [300, 251]) {
      expect(Object.fromEntries([...headers].filter(([name]) => /ratelimit|retry/.test(name)))).toEqual({
        'x-ratelimit-limit': '1000',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Date.parse('2026-11-20T12:05:21Z') / 1000),
        'ratelimit-policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
        ratelimit: `"minute";r=0;t=${seconds}, "day";r=0;t=${seconds}`,
        'retry-after': String(seconds),
      });
      expect(body.message).toContain(`retry in ${seconds} s.`);
      // A request during the ban neither lengthens nor shortens it.
      service.clock.advance(49_900);
      ({ headers, body } = await hammer(service, 3));
    }
  });

  it('is admitted again at the end of the ban, with nothing used up in the meantime', async () => {
    const service = await open();
    await earnBan(service);
    service.clock.advance(5 * MINUTE - 1);
    expect((await hammer(service, 30)).body.code).toBe('api_key_banned');
    service.clock.advance(1);
    const { status, headers } = await list(service);
    expect([status, headers.get('ratelimit')]).toEqual([200, '"minute";r=59;t=39, "day";r=939;t=42879']);
  });

  it('is the only one banned: another key of the client is not', async () => {
    const service = await open();
    const { key } = await service.issueKey();
    await earnBan(service);
    service.clock.advance(MINUTE);
    expect((await list(service)).body.code).toBe('api_key_banned');
    expect((await list(service, key)).status).toBe(200);
  });

  it('is shown to the operator, and lifted by unban', async () => {
    const service = await open();
    const { items } = await service.app
      .get(ApiKeysService)
      .list({ limit: 1 }, { clientId: service.clientId });
    const [apiKey] = items;
    const client = await service.app.get(ClientsService).get(service.clientId);
    await earnBan(service);
    const { bans } = await service.app.get(UsageService).of(client);
    expect(bans).toEqual([
      { keyId: apiKey?.id, keyPrefix: apiKey?.prefix, bannedUntil: '2026-11-20T12:05:21.000Z' },
    ]);
    await service.app.get(ApiKeysService).unban(apiKey?.id ?? '', SERVICE_ITSELF);
    service.clock.advance(MINUTE);
    expect((await list(service)).status).toBe(200);
    expect((await service.app.get(UsageService).of(client)).bans).toEqual([]);
  });

  it('is banned although it lacks the scope for its request', async () => {
    const service = await open();
    const { key } = await service.issueKey({ scopes: ['pets:write'] });
    expect((await hammer(service, 60, key)).status).toBe(403);
    expect((await hammer(service, 1, key)).body.code).toBe('rate_limit_exceeded');
    service.clock.advance(2_000);
    expect((await goOn(service, 20, key)).body.code).toBe('api_key_banned');
  });

  it('is what is banned: an address never is', async () => {
    const service = await open();
    for (let sent = 0; sent < 120; sent += 1) await service.request('GET', '/v1/pets', { key: null });
    service.clock.advance(3_000);
    for (let sent = 0; sent < 30; sent += 1) {
      expect((await service.request('GET', '/v1/pets', { key: null })).body.code).toBe('rate_limit_exceeded');
    }
  });
});

it('refusals, strikes and bans survive restarts: the next ban is the longer one', async () => {
  const environment = { DATABASE_URL: await databaseOfTest() };
  let key = '';
  const from = async (at: string, work: (service: TestService) => Promise<TestResponse>) => {
    const service = await TestService.open({ environment, plan: 'free', at: `2026-11-20T${at}Z` });
    key ||= service.key;
    const { body } = await work(service);
    await service.close();
    return body.message as string;
  };
  await from('12:00:00', (service) => hammer(service, 61, key));
  await from('12:00:03', (service) => goOn(service, 12, key));
  const ban = await from('12:00:15', (service) => goOn(service, 8, key));
  expect(ban).toContain('banned until 2026-11-20T12:05:22.000Z');
  // It is over by then, but not forgotten.
  expect(await from('12:06:00', (service) => earnBan(service, key))).toContain('retry in 900 s.');
});
