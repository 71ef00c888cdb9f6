import { afterAll, describe, expect, it } from 'vitest';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { QuotaJournal } from '../../src/throttling/memory/quota-journal.js';
import { type TestResponse, TestService } from '../kit/test-service.js';
import { openClients } from '../support/as-client.js';
import { gate } from '../support/gate.js';

const open = await openClients();

const shown = ({ headers }: TestResponse) => ({
  limit: headers.get('x-ratelimit-limit'),
  remaining: headers.get('x-ratelimit-remaining'),
  reset: headers.get('x-ratelimit-reset'),
  policy: headers.get('ratelimit-policy'),
  state: headers.get('ratelimit'),
  retryAfter: headers.get('retry-after'),
});

const list = (service: TestService, key?: string | null) =>
  service.request('GET', '/v1/pets?limit=1', key === undefined ? {} : { key });
const unix = (instant: string) => String(Date.parse(instant) / 1000);

describe('the plans', () => {
  it.each([
    ['free', 60, 1_000],
    ['pro', 300, 10_000],
    ['business', 1_000, 100_000],
  ] as const)('%s: %i a minute, %i a day', async (plan, perMinute, perDay) => {
    const service = await open({ plan, at: '2026-11-20T12:00:29.250Z' });
    expect(shown(await list(service))).toEqual({
      limit: String(perMinute),
      remaining: String(perMinute - 1),
      reset: unix('2026-11-20T12:01:00Z'),
      policy: `"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400`,
      state: `"minute";r=${perMinute - 1};t=31, "day";r=${perDay - 1};t=43171`,
      retryAfter: null,
    });
  });

  it('enterprise: its own numbers', async () => {
    const service = await open({ plan: 'enterprise', limits: { perMinute: 7, perDay: 70 } });
    expect(shown(await list(service)).policy).toBe('"minute";q=7;w=60, "day";q=70;w=86400');
  });
});

describe('the minute', () => {
  it('admits exactly the limit, refuses with 429 and is full again at the reset', async () => {
    const service = await open({ plan: 'free', at: '2026-11-20T12:00:10.250Z' });
    for (let used = 1; used <= 60; used += 1) {
      const response = await list(service);
      expect([response.status, shown(response).remaining]).toEqual([200, String(60 - used)]);
    }
    const refused = await list(service);
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(shown(refused)).toMatchObject({
      limit: '60',
      remaining: '0',
      reset: unix('2026-11-20T12:01:00Z'),
      retryAfter: '50',
    });
    expect(refused.body.message).toContain('60 requests per minute');
    service.clock.set('2026-11-20T12:00:59.999Z');
    const late = await list(service);
    expect([late.status, shown(late).retryAfter]).toEqual([429, '1']);
    service.clock.set('2026-11-20T12:01:00.000Z');
    const next = await list(service);
    expect([next.status, shown(next).remaining]).toEqual([200, '59']);
  });
});

describe('what counts', () => {
  it('all keys of a client share its quota', async () => {
    const service = await open({ plan: 'free' });
    const { key } = await service.issueKey();
    await list(service);
    expect(shown(await list(service, key)).remaining).toBe('58');
  });

  it('a new plan applies to the next request and keeps what is used', async () => {
    const service = await open({ plan: 'free' });
    await list(service);
    await service.app.get(ClientsService).update(service.clientId, { plan: 'pro' }, SERVICE_ITSELF);
    expect(shown(await list(service)).state).toMatch(/^"minute";r=298;t=\d+, "day";r=9998;/);
  });

  it('a smaller plan never shows a negative rest', async () => {
    const service = await open({ plan: 'pro' });
    for (let sent = 0; sent < 65; sent += 1) await list(service);
    await service.app.get(ClientsService).update(service.clientId, { plan: 'free' }, SERVICE_ITSELF);
    const refused = await list(service);
    expect([refused.status, shown(refused).remaining]).toEqual([429, '0']);
  });
});

describe('callers without a valid key', () => {
  it('share the 60 requests a minute of their address, then get 429 instead of 401', async () => {
    const service = await open({ environment: {} });
    for (let used = 1; used <= 60; used += 1) {
      const response = await list(service, used % 2 ? null : 'nonsense');
      expect([response.status, shown(response).remaining]).toEqual([401, String(60 - used)]);
    }
    const refused = await list(service, null);
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(shown(refused)).toMatchObject({ limit: '60', policy: '"minute";q=60;w=60', retryAfter: '50' });
    expect((await list(service)).status, 'a valid key is never refused because of its address').toBe(200);
    service.clock.advance(60_000);
    expect((await list(service, null)).status).toBe(401);
  });

  /** By their TRUST_PROXY. */
  const services = new Map<string | undefined, TestService>();
  afterAll(() => Promise.all([...services.values()].map((service) => service.close())));

  it.each<[string, { TRUST_PROXY?: string }, string, string, string]>([
    ['nobody’s word is taken by default', {}, '1.2.3.4', '5.6.7.8', '58'],
    ['a trusted hop’s word is', { TRUST_PROXY: '1' }, '1.2.3.4', '5.6.7.8', '59'],
    [
      'no more hops are trusted than that',
      { TRUST_PROXY: '1' },
      '1.1.1.1, 1.2.3.4',
      '5.5.5.5, 1.2.3.4',
      '58',
    ],
    ['a trusted address’s word is', { TRUST_PROXY: '127.0.0.0/8' }, '1.2.3.4', '5.6.7.8', '59'],
    [
      'an address outside the range is not trusted',
      { TRUST_PROXY: '10.0.0.0/8' },
      '1.2.3.4',
      '5.6.7.8',
      '58',
    ],
    [
      'one /56 of IPv6 counts together',
      { TRUST_PROXY: '1' },
      '2001:db8:1:200::1',
      '2001:db8:1:2ff:9::1',
      '58',
    ],
    ['another /56 does not', { TRUST_PROXY: '1' }, '2001:db8:1:200::1', '2001:db8:1:300::1', '59'],
    ['IPv4 written as IPv6 is the same address', { TRUST_PROXY: '1' }, '1.2.3.4', '::ffff:1.2.3.4', '58'],
    [
      'a zone makes no other address',
      { TRUST_PROXY: '1' },
      'fe80::1%eth0',
      `fe80::1%${'a'.repeat(99)}`,
      '58',
    ],
    ['a port is no part of an address', { TRUST_PROXY: '1' }, '203.0.113.7:51234', '203.0.113.7', '58'],
    [
      'a port takes no caller the proxy’s',
      { TRUST_PROXY: '1' },
      '203.0.113.7:51234',
      '203.0.113.8:51234',
      '59',
    ],
    ['brackets and a port are none', { TRUST_PROXY: '1' }, '[2001:db8::7]:443', '2001:db8::7', '58'],
    ['brackets alone are none', { TRUST_PROXY: '1' }, '[2001:db8::7]', '[2001:db8:1::7]', '59'],
    [
      'a bare IPv6 address is not cut',
      { TRUST_PROXY: '1' },
      '2001:db8:0:1:2:3:4:80',
      '2001:db8::2:3:4:443',
      '58',
    ],
    ['IPv4 as IPv6 with a port is IPv4', { TRUST_PROXY: '1' }, '[::ffff:1.2.3.4]:443', '1.2.3.4', '58'],
    ['a zone in brackets is none', { TRUST_PROXY: '1' }, '[fe80::1%eth0]:443', 'fe80::1', '58'],
    ['hops have ports', { TRUST_PROXY: '2' }, '1.2.3.4:5, 10.0.0.1:443', '1.2.3.4, 10.0.0.1', '58'],
    [
      'trusted networks have ports',
      { TRUST_PROXY: '127.0.0.1,10.0.0.0/8,fc00::/7' },
      '1.2.3.4:5, [fd00::1]:443, 10.0.0.1:443',
      '1.2.3.4, 10.0.0.9',
      '58',
    ],
    ['empty elements are none', { TRUST_PROXY: '2' }, '1.2.3.4, , 10.0.0.1,', '1.2.3.4,10.0.0.1', '58'],
    [
      'what an untrusted client invents is ignored',
      { TRUST_PROXY: '1' },
      'unknown, [::1, 1.2.3.4:99999999, 5.6.7.8:1',
      '5.6.7.8',
      '58',
    ],
    [
      'behind what is no address nobody is believed',
      { TRUST_PROXY: '3' },
      '1.2.3.4, _hidden, 10.0.0.1',
      '5.6.7.8, for="x:1", 10.0.0.1',
      '58',
    ],
    ['what is no address is the proxy', { TRUST_PROXY: '1' }, 'unknown', `_${'x'.repeat(9_000)}`, '58'],
    [
      'at most 32 trusted addresses in a row are believed',
      { TRUST_PROXY: '127.0.0.1,10.0.0.0/8' },
      `1.2.3.4${', 10.0.0.1'.repeat(1_500)}`,
      `5.6.7.8${', 10.0.0.1'.repeat(1_500)}`,
      '58',
    ],
    [
      'and 31 are',
      { TRUST_PROXY: '127.0.0.1,10.0.0.0/8' },
      `1.2.3.4${', 10.0.0.1'.repeat(31)}`,
      `5.6.7.8${', 10.0.0.1'.repeat(31)}`,
      '59',
    ],
  ])('%s', async (_, environment, first, second, expected) => {
    const service = services.get(environment.TRUST_PROXY) ?? (await TestService.open({ environment }));
    services.set(environment.TRUST_PROXY, service);
    service.clock.advance(60_000);
    const from = (address: string) =>
      service.request('GET', '/v1/pets', { key: null, headers: { 'x-forwarded-for': address } });
    await from(first);
    expect(shown(await from(second)).remaining).toBe(expected);
  });
});

describe('counters that cannot be read', () => {
  it('get 503 with Retry-After, are not counted, and work again without intervention', async () => {
    const service = await open({ plan: 'free', environment: {} });
    const journal = service.app.get(QuotaJournal);
    const used = journal.used.bind(journal);
    journal.used = () => Promise.reject(new Error('disk I/O error'));
    // Not by way of store.request(): what remains is not known, so that these have no rate-limit headers.
    const responses = await Promise.all(
      Array.from({ length: 80 }, () =>
        fetch(`${service.url}/v1/pets`, { headers: { authorization: `Bearer ${service.key}` } }),
      ),
    );
    for (const { status, headers } of responses)
      expect([status, headers.get('retry-after'), headers.has('x-ratelimit-remaining')]).toEqual([
        503,
        '1',
        false,
      ]);
    expect(await responses[0]?.json()).toEqual({
      code: 'service_unavailable',
      message: 'The service cannot handle the request right now: the quota cannot be read.',
      status: 503,
    });
    journal.used = used;
    expect(shown(await list(service)).remaining).toBe('59');
    expect(shown(await list(service, null)).remaining).toBe('59');
  });
});

it.each([
  ['minute', '2026-11-20T12:00:59.999Z', 1, '"minute";r=58;t=60, "day";r=991;t=43140'],
  ['day', '2026-11-20T23:59:59.999Z', 2, '"minute";r=55;t=60, "day";r=991;t=86400'],
])(
  'what the database has of a %s that ends while it is read counts for no later one; it is read once for all who wait',
  async (_, at, times, expected) => {
    const service = await open({ plan: 'free', environment: {}, at });
    const journal = service.app.get(QuotaJournal);
    let count = 0;
    const read = gate();
    journal.used = async (key) => {
      if (!key.endsWith(service.clientId)) return { minute: 0, day: 0 };
      count += 1;
      await read.opened;
      return { minute: 3, day: 7 };
    };
    const waiting = [list(service), list(service)];
    await expect.poll(() => count).toBe(1);
    service.clock.advance(1);
    await list(service, (await service.issueKey({ plan: 'pro' })).key);
    read.open();
    const last = (await Promise.all(waiting)).map((response) => shown(response).state ?? '').toSorted()[0];
    expect([count, last]).toEqual([times, expected]);
  },
);
