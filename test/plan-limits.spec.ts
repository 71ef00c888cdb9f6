import { describe, expect, it, onTestFinished } from 'vitest';
import { ClientsService } from '../src/accounts/clients.service.js';
import { subjectOfClient } from '../src/accounts/usage.service.js';
import { QuotaStore } from '../src/throttling/quota-store.js';
import { windowsOf } from '../src/throttling/quota.service.js';
import { Store } from './support/store.js';

/** The specification's table (heading "Rate limits by plan"), to the last digit. */
const PLANS = [
  ['free', 60, 1_000],
  ['pro', 300, 10_000],
  ['business', 1_000, 100_000],
] as const;
const MINUTE_MS = 60_000;

async function open(plan: (typeof PLANS)[number][0]): Promise<Store> {
  const store = await Store.open({ plan, at: '2026-11-20T00:00:00.000Z' });
  onTestFinished(() => store.close());
  return store;
}

/** Sends so many requests over HTTP, all of which must be admitted. */
async function send(store: Store, times: number): Promise<void> {
  for (let sent = 0; sent < times; sent += 1) {
    const answer = await fetch(`${store.url}/v1/pets?limit=1`, {
      headers: { authorization: `Bearer ${store.key}` },
    });
    await answer.arrayBuffer();
    expect(answer.status).toBe(200);
  }
}

/** Counts so many requests of the store's client as its quota store does, without the way over HTTP. */
async function count(store: Store, times: number): Promise<void> {
  const subject = subjectOfClient(await store.app.get(ClientsService).get(store.clientId));
  const request = { subject: subject.id, isClient: true, windows: windowsOf(subject) };
  const quota = store.app.get(QuotaStore);
  for (let counted = 0; counted < times; counted += 1)
    if (!(await quota.take(request, store.clock.now())).admitted)
      throw new Error(`Request ${counted} did not fit.`);
}

const list = (store: Store) => store.request('GET', '/v1/pets?limit=1');

describe.each(PLANS)('%s', (plan, perMinute, perDay) => {
  it(`admits request ${perMinute} of a minute and refuses request ${perMinute + 1}`, async () => {
    const store = await open(plan);
    await send(store, perMinute - 1);
    const last = await list(store);
    expect([last.status, last.headers.get('x-ratelimit-remaining')]).toEqual([200, '0']);
    store.clock.advance(MINUTE_MS - 1);
    const refused = await list(store);
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
      429,
      'rate_limit_exceeded',
      '1',
    ]);
    expect(refused.headers.get('x-ratelimit-limit')).toBe(String(perMinute));
    store.clock.advance(1);
    expect((await list(store)).status).toBe(200);
  });

  it(`admits request ${perDay} of a day and refuses request ${perDay + 1}`, async () => {
    const store = await open(plan);
    const minutes = Math.floor((perDay - 1) / perMinute);
    for (let minute = 0; minute < minutes; minute += 1) {
      await count(store, perMinute);
      store.clock.advance(MINUTE_MS);
    }
    await count(store, perDay - 1 - minutes * perMinute);
    const last = await list(store);
    expect([last.status, last.headers.get('x-ratelimit-remaining')]).toEqual([200, '0']);
    expect(last.headers.get('x-ratelimit-limit')).toBe(String(perDay));
    store.clock.set('2026-11-20T23:59:59.999Z');
    const refused = await list(store);
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
      429,
      'daily_quota_exceeded',
      '1',
    ]);
    store.clock.advance(1);
    expect((await list(store)).status).toBe(200);
  });
});

it('free: the day of 1,000 is as long over HTTP alone', async () => {
  const store = await open('free');
  for (let minute = 0; minute < 16; minute += 1) {
    await send(store, 60);
    store.clock.advance(MINUTE_MS);
  }
  await send(store, 40);
  expect((await list(store)).body.code).toBe('daily_quota_exceeded');
});
