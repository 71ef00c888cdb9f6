import { join } from 'node:path';
import fc from 'fast-check';
import { DataSource } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiKeysService } from '../src/accounts/api-keys.service.js';
import { KeyUseService } from '../src/accounts/key-use.service.js';
import { SERVICE_ITSELF } from '../src/accounts/operator.js';
import { Sweeper } from '../src/database/sweeper.js';
import { MemoryQuotaStore } from '../src/throttling/memory/memory-quota-store.js';
import { QuotaWriteBehind } from '../src/throttling/memory/quota-write-behind.js';
import type { QuotaVerdict } from '../src/throttling/quota.js';
import { earnBan, goOn, hammer } from './support/earn-ban.js';
import { emptyFolder } from './support/service-process.js';
import { type Answer, Store, type StoreOptions } from './support/store.js';
import { TestClock } from './support/test-clock.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

async function open(options: StoreOptions = {}): Promise<Store> {
  const store = await Store.open({ plan: 'free', at: '2026-11-20T12:00:00.000Z', ...options });
  onTestFinished(() => store.close());
  return store;
}

const list = (store: Store) => store.request('GET', '/v1/pets?limit=1');

/** All families of headers speak of one instant, by the clock as it is now. */
function expectConsistent(store: Store, { headers }: Answer): void {
  const reset = Number(headers.get('x-ratelimit-reset'));
  const left = Math.max(1, Math.ceil(reset - store.clock.now() / SECOND));
  expect(headers.get('ratelimit')).toContain(`r=${headers.get('x-ratelimit-remaining')};t=${left}`);
  if (headers.has('retry-after')) expect(Number(headers.get('retry-after'))).toBe(left);
}

const STEPS = [
  ['an hour back', -HOUR],
  ['a minute and a bit back', -61 * SECOND],
  ['half a minute back', -30 * SECOND],
  ['over midnight back', -13 * HOUR],
  ['ten years back', -3_650 * DAY],
] as const;

describe('a minute that is used up, when the clock is set', () => {
  it.each(STEPS)('%s: stays used up until it ends by the clock, in less than two minutes', async (_, by) => {
    const store = await open();
    store.clock.advance(20 * SECOND);
    expect((await hammer(store, 60)).status).toBe(200);
    store.clock.step(by);
    const refused = await list(store);
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limit_exceeded']);
    expectConsistent(store, refused);
    const wait = Number(refused.headers.get('retry-after')) * SECOND;
    expect(wait).toBeLessThanOrEqual(2 * MINUTE);
    store.clock.advance(wait - SECOND);
    expectConsistent(store, await list(store));
    store.clock.advance(SECOND);
    const { status, headers } = await list(store);
    expect([status, /"minute";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]]).toEqual([200, '59']);
  });

  it('forward: the minute that it is set to is a new one, once', async () => {
    const store = await open();
    await hammer(store, 60);
    store.clock.step(HOUR);
    expect((await hammer(store, 60)).status).toBe(200);
    expectConsistent(store, await list(store));
    store.clock.step(-HOUR);
    expect((await list(store)).status).toBe(429);
  });
});

describe('a minute, however the clock is set', () => {
  it('admits its limit once for every minute that passes and every step, and tells an end within two minutes', () => {
    const limit = 5;
    const step = fc.oneof(
      fc.integer({ min: -3 * MINUTE, max: 3 * MINUTE }),
      fc.constantFrom(-HOUR, HOUR, -DAY, DAY, -61 * SECOND, -60 * SECOND, -59 * SECOND),
    );
    const move = fc.record({ pass: fc.integer({ min: 0, max: 90 * SECOND }), step: fc.option(step) });
    let refused = 0;
    fc.assert(
      fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
        const clock = new TestClock('2026-11-20T23:58:00.000Z');
        const counts = new MemoryQuotaStore();
        let admitted = 0;
        let steps = 0;
        for (const { pass, step: by } of [{ pass: 0, step: null }, ...moves]) {
          clock.advance(pass);
          if (by !== null) {
            clock.step(by);
            steps += 1;
          }
          for (let sent = 0; sent < 2 * limit; sent += 1) {
            const verdict = counts.take(
              {
                subject: 'client:1',
                isClient: true,
                windows: [{ key: 'client:1', name: 'minute', limit, lengthMs: MINUTE }],
              },
              clock.now(),
            ) as QuotaVerdict;
            const wait = (verdict.windows[0]?.resetsAt ?? 0) - clock.now();
            expect(wait).toBeGreaterThan(0);
            expect(wait).toBeLessThanOrEqual(2 * MINUTE);
            if (verdict.admitted) admitted += 1;
            else refused += 1;
          }
        }
        const minutes = Math.floor(clock.steady() / MINUTE) + 2;
        expect(admitted).toBeLessThanOrEqual(limit * (minutes + steps));
      }),
      { numRuns: 2_000 },
    );
    expect(refused).toBeGreaterThan(0);
  });

  it('is not opened by steps back alone', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 3 * DAY }), { minLength: 1, maxLength: 20 }),
        (steps) => {
          const clock = new TestClock('2026-11-20T12:00:30.000Z');
          const counts = new MemoryQuotaStore();
          const windows = [{ key: 'client:1', name: 'minute', limit: 1, lengthMs: MINUTE }];
          const take = () =>
            counts.take({ subject: 'client:1', isClient: true, windows }, clock.now()) as QuotaVerdict;
          expect(take().admitted).toBe(true);
          for (const by of steps) {
            clock.step(-by);
            expect(take().admitted).toBe(false);
          }
        },
      ),
    );
  });
});

describe('a day that is used up, when the clock is set', () => {
  it('an hour back over midnight: the day before has what it had, and the new day keeps what was used', async () => {
    const store = await open({ plan: 'enterprise', limits: { perMinute: 1_000, perDay: 10 } });
    await hammer(store, 10);
    store.clock.set('2026-11-21T00:10:00.000Z');
    expect((await hammer(store, 7)).status).toBe(200);
    await store.app.get(QuotaWriteBehind).flush();
    store.clock.step(-HOUR);
    const before = await list(store);
    expect([before.status, before.body.code]).toEqual([429, 'daily_quota_exceeded']);
    expectConsistent(store, before);
    store.clock.advance(HOUR);
    expect((await list(store)).headers.get('ratelimit')).toContain('"day";r=2;');
  });
});

describe('a ban, when the clock is set', () => {
  it.each([...STEPS, ['an hour forward', HOUR], ['a year forward', 365 * DAY]] as const)(
    '%s: lasts five minutes all the same, and every header says so',
    async (_, by) => {
      const store = await open();
      await earnBan(store);
      store.clock.advance(MINUTE);
      store.clock.step(by);
      const banned = await list(store);
      expect([banned.body.code, banned.headers.get('retry-after')]).toEqual(['api_key_banned', '240']);
      expectConsistent(store, banned);
      store.clock.advance(4 * MINUTE - 1);
      expect((await list(store)).body.code).toBe('api_key_banned');
      store.clock.advance(1);
      expect((await list(store)).body.code).not.toBe('api_key_banned');
    },
  );

  it.each([
    ['back', -HOUR],
    ['forward', HOUR],
  ] as const)('%s: the ladder stays where it is, and no strike is unfair', async (_, by) => {
    const store = await open();
    await hammer(store, 61);
    store.clock.advance(2 * SECOND);
    await goOn(store, 19);
    store.clock.step(by);
    // It may trust either clock: what it was told before is no wait any more.
    store.clock.advance(SECOND);
    expect((await hammer(store, 61)).body.code).toBe('rate_limit_exceeded');
    store.clock.advance(2 * SECOND);
    expect((await list(store)).body.code).toBe('api_key_banned');
  });

  it('over a restart: it lasts no longer than it was to, however far the clock was put back', async () => {
    const { path, remove } = await emptyFolder();
    onTestFinished(remove);
    const environment = { DATABASE_URL: `sqlite:${join(path, 'pets.sqlite')}` };
    const first = await Store.open({ plan: 'free', at: '2026-11-20T12:00:00.000Z', environment });
    await earnBan(first);
    const { key } = first;
    await first.close();
    const second = await open({ at: '2026-11-20T11:00:00.000Z', environment });
    const { body, headers } = await second.request('GET', '/v1/pets?limit=1', { key });
    expect([body.code, headers.get('retry-after')]).toEqual(['api_key_banned', '300']);
    second.clock.advance(5 * MINUTE);
    expect((await second.request('GET', '/v1/pets?limit=1', { key })).status).toBe(200);
  });

  it('after it was lifted: it can be earned again, and one that is lifted just before a step is lifted', async () => {
    const store = await open();
    const [apiKey] = (await store.app.get(ApiKeysService).list({ limit: 1 })).items;
    const flush = () => store.app.get(QuotaWriteBehind).flush();
    await earnBan(store);
    await flush();
    await store.app.get(ApiKeysService).unban(apiKey?.id ?? '', SERVICE_ITSELF);
    await flush();
    store.clock.step(-HOUR);
    store.clock.advance(MINUTE);
    await hammer(store, 61);
    store.clock.advance(2 * SECOND);
    // Every second the bans that another process lifted are looked for.
    let last = await list(store);
    for (let sent = 0; sent < 20; sent += 1) {
      store.clock.advance(SECOND);
      await flush();
      last = await list(store);
    }
    expect(last.body.code).toBe('api_key_banned');
    // As another process does it, a moment before the clock is set forward.
    await store.app
      .get(DataSource)
      .query(`UPDATE key_bans SET banned_until = 0, lifted_at = ${store.clock.now() + 1}`);
    store.clock.step(HOUR);
    await flush();
    expect((await list(store)).body.code).not.toBe('api_key_banned');
  });
});

describe('what is kept for a time, when the clock is set', () => {
  it('a key’s end is an instant of the clock: it works again where the clock is put back before it', async () => {
    const store = await open();
    const { key } = await store.issueKey({ expires: HOUR });
    const ask = async () => (await store.request('GET', '/v1/pets?limit=1', { key })).status;
    store.clock.advance(HOUR);
    expect(await ask()).toBe(401);
    store.clock.step(-HOUR);
    expect(await ask()).toBe(200);
  });

  it('a key that was ended at once stays ended', async () => {
    const store = await open();
    const { id, key } = await store.issueKey();
    const other = await store.issueKey();
    await store.app.get(ApiKeysService).rotate(id, { grace: 0 }, SERVICE_ITSELF);
    await store.app.get(ApiKeysService).revoke(other.id, {}, SERVICE_ITSELF);
    store.clock.step(-HOUR);
    for (const ended of [key, other.key])
      expect((await store.request('GET', '/v1/pets?limit=1', { key: ended })).status).toBe(401);
  });

  it('the last use of a key is written again at once after a step back', async () => {
    const store = await open();
    const lastUse = async () => {
      await store.app.get(KeyUseService).flush();
      const [apiKey] = (await store.app.get(ApiKeysService).list({ limit: 1 })).items;
      return apiKey?.lastUsedAt;
    };
    await list(store);
    expect(await lastUse()).toBe('2026-11-20T12:00:00.000Z');
    store.clock.advance(MINUTE);
    store.clock.step(-HOUR);
    await list(store);
    expect(await lastUse()).toBe('2026-11-20T11:01:00.000Z');
  });

  it('an answer kept by a clock that was ten years ahead goes a day after the clock was mended', async () => {
    const store = await open({ at: '2036-11-20T12:00:00.000Z', plan: 'business' });
    const post = async () => {
      const headers = { 'idempotency-key': 'k-1' };
      const answer = await store.request('POST', '/v1/pets', {
        json: { name: 'Rex', categoryId: 1 },
        headers,
      });
      return answer.headers.has('idempotent-replayed');
    };
    expect(await post()).toBe(false);
    store.clock.step(-3_653 * DAY);
    expect(await post()).toBe(true);
    await store.app.get(Sweeper).sweep();
    store.clock.advance(DAY - 1);
    expect(await post()).toBe(true);
    store.clock.advance(1);
    expect(await post()).toBe(false);
  });
});
