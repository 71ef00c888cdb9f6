import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiKeysService } from '../../src/auth/clients/api-keys.service.js';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { UsageService } from '../../src/auth/clients/usage.service.js';
import { earnBan, goOn, hammer } from '../support/earn-ban.js';
import { TestService } from '../kit/test-service.js';

const MINUTE = 60_000;

async function open(): Promise<TestService> {
  const service = await TestService.open({ plan: 'free', at: '2026-11-20T12:00:00.000Z' });
  onTestFinished(() => service.close());
  return service;
}

const list = (service: TestService, key?: string) =>
  service.request('GET', '/v1/pets?limit=1', key === undefined ? {} : { key });

describe('a key that goes on after 429', () => {
  it('is banned for five minutes at the twentieth strike, and told so exactly', async () => {
    const service = await open();
    await hammer(service, 61);
    service.clock.advance(2_000);
    expect((await goOn(service, 19)).body.code).toBe('rate_limit_exceeded');
    service.clock.advance(1_000);
    const { status, body } = await list(service);
    expect([status, body.code]).toEqual([429, 'api_key_banned']);
    expect(body.message).toContain('banned until 2026-11-20T12:05:21.000Z');
    expect(body.message).toContain('retry in 300 s.');
  });

  it('is told the end of the ban by every header and the message alike, in this minute and the next', async () => {
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

  it('collects one strike a second, however much it sends', async () => {
    const service = await open();
    await hammer(service, 61);
    service.clock.advance(2_000);
    // 15 ms apart: two seconds, three strikes.
    for (let sent = 0; sent < 135; sent += 1) {
      expect((await list(service)).body.code).toBe('rate_limit_exceeded');
      service.clock.advance(15);
    }
    service.clock.advance(1_000);
    expect((await goOn(service, 17)).body.code).toBe('api_key_banned');
  });

  it('is not banned for what comes within two seconds after the reset that it was told', async () => {
    const service = await TestService.open({
      plan: 'enterprise',
      limits: { perMinute: 2, perDay: 10_000 },
      at: '2026-11-20T12:00:00.000Z',
    });
    onTestFinished(() => service.close());
    for (let minute = 0; minute < 25; minute += 1) {
      service.clock.set(new Date(Date.parse('2026-11-20T12:00:00.000Z') + minute * MINUTE).toISOString());
      expect((await hammer(service, 2)).status).toBe(200);
      expect((await hammer(service, 2)).body.code).toBe('rate_limit_exceeded');
      service.clock.advance(1_999);
      expect((await hammer(service, 2)).body.code).toBe('rate_limit_exceeded');
    }
  });

  it('begins anew with a plan that was raised: what it was told of the smaller one is void', async () => {
    const service = await TestService.open({
      plan: 'enterprise',
      limits: { perMinute: 1, perDay: 1 },
      at: '2026-11-20T12:00:00.000Z',
    });
    onTestFinished(() => service.close());
    expect((await hammer(service, 2)).body.code).toBe('daily_quota_exceeded');
    await service.app
      .get(ClientsService)
      .update(service.clientId, { plan: 'enterprise', perMinute: 1, perDay: 1_000 }, SERVICE_ITSELF);
    for (let minute = 1; minute <= 30; minute += 1) {
      service.clock.advance(MINUTE);
      expect((await hammer(service, 1)).status).toBe(200);
      expect((await hammer(service, 1)).body.code).toBe('rate_limit_exceeded');
    }
  });

  it('is admitted again at the end of the ban, with nothing used up meanwhile', async () => {
    const service = await open();
    await earnBan(service);
    service.clock.advance(5 * MINUTE - 1);
    expect((await hammer(service, 30)).body.code).toBe('api_key_banned');
    service.clock.advance(1);
    const { status, headers } = await list(service);
    expect([status, headers.get('ratelimit')]).toEqual([200, '"minute";r=59;t=39, "day";r=939;t=42879']);
  });

  it('is forgiven the first two seconds: those requests were in flight', async () => {
    const service = await open();
    await hammer(service, 60);
    service.clock.advance(10);
    expect((await hammer(service, 50)).body.code).toBe('rate_limit_exceeded');
    service.clock.advance(1_999);
    expect((await hammer(service, 50)).body.code).toBe('rate_limit_exceeded');
  });

  it('climbs the ladder: 5, 15, 60 minutes, 24 hours, 24 hours', async () => {
    const service = await open();
    const lengths = [];
    for (let rung = 0; rung < 5; rung += 1) {
      const banned = await earnBan(service);
      lengths.push(Number(banned.headers.get('retry-after')));
      // To the end of the ban, and to the beginning of the next minute.
      service.clock.advance(Number(banned.headers.get('retry-after')) * 1_000 + MINUTE);
      service.clock.set(new Date(Math.floor(service.clock.now() / MINUTE) * MINUTE).toISOString());
    }
    expect(lengths).toEqual([300, 900, 3_600, 86_400, 86_400]);
  });

  it('begins the ladder anew after a day without strikes', async () => {
    const service = await open();
    await earnBan(service);
    service.clock.set('2026-11-21T12:06:00.000Z');
    expect((await earnBan(service)).headers.get('retry-after')).toBe('300');
  });

  it('is banned alone: another key of the client is not', async () => {
    const service = await open();
    const { key } = await service.issueKey();
    await earnBan(service);
    service.clock.advance(MINUTE);
    expect((await list(service)).body.code).toBe('api_key_banned');
    expect((await list(service, key)).status).toBe(200);
  });

  it('is shown to the operator, and let off by unban', async () => {
    const service = await open();
    const { items } = await service.app.get(ApiKeysService).list({ limit: 1 });
    const [apiKey] = items;
    const client = await service.app.get(ClientsService).get(service.clientId);
    await earnBan(service);
    const { bans } = await service.app.get(UsageService).of(client);
    expect(bans).toEqual([{ keyId: apiKey?.id, bannedUntil: '2026-11-20T12:05:21.000Z' }]);
    await service.app.get(ApiKeysService).unban(apiKey?.id ?? '', SERVICE_ITSELF);
    service.clock.advance(MINUTE);
    expect((await list(service)).status).toBe(200);
    expect((await service.app.get(UsageService).of(client)).bans).toEqual([]);
  });

  it('is banned although it has no scope for what it asks', async () => {
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
