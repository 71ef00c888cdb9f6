import { describe, expect, it } from 'vitest';
import { Sweeper } from '../../src/database/sweeper.js';
import { QuotaJournal } from '../../src/throttling/memory/quota-journal.js';
import { earnBan, hammer } from '../support/earn-ban.js';
import { type TestResponse, TestService, type TestServiceOptions } from '../kit/test-service.js';
import { openForTest } from '../support/opened.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

async function open(options: TestServiceOptions = {}): Promise<TestService> {
  return openForTest({ plan: 'free', at: '2026-11-20T12:00:00.000Z', ...options });
}

const list = (service: TestService) => service.request('GET', '/v1/pets?limit=1');

/** All families of headers speak of one instant, by the clock as it is now. */
function expectConsistent(service: TestService, { headers }: TestResponse): void {
  const reset = Number(headers.get('x-ratelimit-reset'));
  const left = Math.max(1, Math.ceil(reset - service.clock.now() / SECOND));
  expect(headers.get('ratelimit')).toContain(`r=${headers.get('x-ratelimit-remaining')};t=${left}`);
  if (headers.has('retry-after')) expect(Number(headers.get('retry-after'))).toBe(left);
}

const STEPS = [
  ['an hour back', -HOUR],
  ['ten years back', -3_650 * DAY],
] as const;

describe('a minute that is used up, when the clock is set', () => {
  it.each(STEPS)('%s: stays used up until it ends by the clock, in less than two minutes', async (_, by) => {
    const service = await open();
    service.clock.advance(20 * SECOND);
    expect((await hammer(service, 60)).status).toBe(200);
    service.clock.step(by);
    const refused = await list(service);
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limit_exceeded']);
    expectConsistent(service, refused);
    const wait = Number(refused.headers.get('retry-after')) * SECOND;
    expect(wait).toBeLessThanOrEqual(2 * MINUTE);
    service.clock.advance(wait - SECOND);
    expectConsistent(service, await list(service));
    service.clock.advance(SECOND);
    const { status, headers } = await list(service);
    expect([status, /"minute";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]]).toEqual([200, '59']);
  });
});

describe('a day that is used up, when the clock is set', () => {
  it('an hour back over midnight: the day before has what it had, and the new day keeps what was used', async () => {
    const service = await open({ plan: 'enterprise', limits: { perMinute: 1_000, perDay: 10 } });
    await hammer(service, 10);
    service.clock.set('2026-11-21T00:10:00.000Z');
    expect((await hammer(service, 7)).status).toBe(200);
    await service.app.get(QuotaJournal).flush();
    service.clock.step(-HOUR);
    const before = await list(service);
    expect([before.status, before.body.code]).toEqual([429, 'daily_quota_exceeded']);
    expectConsistent(service, before);
    service.clock.advance(HOUR);
    expect((await list(service)).headers.get('ratelimit')).toContain('"day";r=2;');
  });
});

describe('a ban, when the clock is set', () => {
  it.each(STEPS)(
    '%s: lasts no longer than five minutes from then on, and every header says so',
    async (_, by) => {
      const service = await open();
      await earnBan(service);
      service.clock.advance(MINUTE);
      service.clock.step(by);
      const banned = await list(service);
      const left = Math.min(5 * MINUTE, 4 * MINUTE - by);
      expect([banned.body.code, banned.headers.get('retry-after')]).toEqual([
        'api_key_banned',
        String(left / SECOND),
      ]);
      expectConsistent(service, banned);
      service.clock.advance(left - 1);
      expect((await list(service)).body.code).toBe('api_key_banned');
      service.clock.advance(1);
      expect((await list(service)).body.code).not.toBe('api_key_banned');
    },
  );
});

describe('stored data with an expiry, when the clock is set', () => {
  it('a key’s expiry is an instant of the clock: it works again if the clock is set back before it', async () => {
    const service = await open();
    const { key } = await service.issueKey({ expires: HOUR });
    const request = async () => (await service.request('GET', '/v1/pets?limit=1', { key })).status;
    service.clock.advance(HOUR);
    expect(await request()).toBe(401);
    service.clock.step(-HOUR);
    expect(await request()).toBe(200);
  });

  it('a response stored by a clock that was ten years ahead is deleted a day after the clock was corrected', async () => {
    const service = await open({ at: '2036-11-20T12:00:00.000Z', plan: 'business' });
    const post = async () => {
      const headers = { 'idempotency-key': 'k-1' };
      const response = await service.request('POST', '/v1/pets', {
        json: { name: 'Rex', categoryId: 1 },
        headers,
      });
      return response.headers.has('idempotent-replayed');
    };
    expect(await post()).toBe(false);
    service.clock.step(-3_653 * DAY);
    expect(await post()).toBe(true);
    await service.app.get(Sweeper).sweep();
    service.clock.advance(DAY - 1);
    expect(await post()).toBe(true);
    service.clock.advance(1);
    expect(await post()).toBe(false);
  });
});
