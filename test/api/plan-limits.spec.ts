import { describe, expect, it, onTestFinished } from 'vitest';
import { ClientQuotas } from '../../src/auth/clients/client-quotas.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { QuotaStore } from '../../src/throttling/quota-store.js';
import { windowsOf } from '../../src/throttling/quota.js';
import { TestService } from '../kit/test-service.js';

/** The specification's table (heading "Rate limits by plan"), to the last digit. */
const PLANS = [
  ['free', 60, 1_000],
  ['pro', 300, 10_000],
  ['business', 1_000, 100_000],
] as const;
const MINUTE_MS = 60_000;

async function open(plan: (typeof PLANS)[number][0]): Promise<TestService> {
  const service = await TestService.open({ plan, at: '2026-11-20T00:00:00.000Z' });
  onTestFinished(() => service.close());
  return service;
}

/** Counts so many requests of the store's client as its quota store does, without the way over HTTP. */
async function count(service: TestService, times: number): Promise<void> {
  const subject = service.app
    .get(ClientQuotas, { strict: false })
    .subjectOf(await service.app.get(ClientsService).get(service.clientId));
  const request = { subject: subject.id, isClient: true, windows: windowsOf(subject) };
  const quota = service.app.get(QuotaStore);
  for (let counted = 0; counted < times; counted += 1)
    if (!(await quota.take(request, service.clock.now())).admitted)
      throw new Error(`Request ${counted} did not fit.`);
}

const list = (service: TestService) => service.request('GET', '/v1/pets?limit=1');

describe.each(PLANS)('%s', (plan, perMinute, perDay) => {
  it(`admits request ${perMinute} of a minute and refuses request ${perMinute + 1}`, async () => {
    const service = await open(plan);
    await count(service, perMinute - 1);
    const last = await list(service);
    expect([last.status, last.headers.get('x-ratelimit-remaining')]).toEqual([200, '0']);
    service.clock.advance(MINUTE_MS - 1);
    const refused = await list(service);
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
      429,
      'rate_limit_exceeded',
      '1',
    ]);
    expect(refused.headers.get('x-ratelimit-limit')).toBe(String(perMinute));
    service.clock.advance(1);
    expect((await list(service)).status).toBe(200);
  });

  it(`admits request ${perDay} of a day and refuses request ${perDay + 1}`, async () => {
    const service = await open(plan);
    const minutes = Math.floor((perDay - 1) / perMinute);
    for (let minute = 0; minute < minutes; minute += 1) {
      await count(service, perMinute);
      service.clock.advance(MINUTE_MS);
    }
    await count(service, perDay - 1 - minutes * perMinute);
    const last = await list(service);
    expect([last.status, last.headers.get('x-ratelimit-remaining')]).toEqual([200, '0']);
    expect(last.headers.get('x-ratelimit-limit')).toBe(String(perDay));
    service.clock.set('2026-11-20T23:59:59.999Z');
    const refused = await list(service);
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
      429,
      'daily_quota_exceeded',
      '1',
    ]);
    service.clock.advance(1);
    expect((await list(service)).status).toBe(200);
  });
});
