import { describe, expect, it } from 'vitest';
import { asClient } from '../support/as-client.js';
import { earnBan, hammer } from '../support/earn-ban.js';
import {
  type TestResponse,
  type RequestOptions,
  TestService,
  type TestServiceOptions,
} from '../kit/test-service.js';
import { openForAll, openForTest } from '../support/opened.js';

const AT = '2026-11-20T12:00:10.250Z';
const REMOVED = '2030-12-05T00:00:00.000Z';
const PET = { name: 'Rex', categoryId: 1 };

const shared = await openForAll({ at: AT });

/** A client of the service that the tests share, in its own minute; one of its own where the time is another. */
async function open(options: TestServiceOptions = {}): Promise<TestService> {
  if (options.at === undefined) {
    shared.clock.advance(60_000);
    return asClient(shared, options);
  }
  const service = await openForTest({ at: AT, ...options });
  return service;
}

/** The three headers of the specification (heading "Rate limit headers") as numbers; NaN where one is no integer. */
function numbersOf({ headers }: TestResponse): { limit: number; remaining: number; reset: number } {
  const number = (name: string) => Number(/^\d+$/.exec(headers.get(`x-ratelimit-${name}`) ?? '')?.[0]);
  return { limit: number('limit'), remaining: number('remaining'), reset: number('reset') };
}

const post = (json: unknown, headers: Record<string, string> = {}): [string, string, RequestOptions] => [
  'POST',
  '/v1/pets',
  { json, headers },
];
const get = (path: string, options: RequestOptions = {}): [string, string, RequestOptions] => [
  'GET',
  path,
  options,
];

describe('every API response carries X-RateLimit-Limit, -Remaining and -Reset', () => {
  it.each([
    [200, 'a list', get('/v1/pets')],
    [200, 'a HEAD', ['HEAD', '/v1/pets', {}]],
    [201, 'a new animal', post(PET)],
    [304, 'what has not changed', get('/v1/pets', { headers: { 'if-none-match': '*' } })],
    [400, 'a bad parameter', get('/v1/pets?limit=0')],
    [400, 'a bad body', post({})],
    [400, 'a path that cannot be decoded', get('/v1/pets/%zz')],
    [401, 'no key', get('/v1/pets', { key: null })],
    [403, 'a key without the scope', post(PET), { scopes: ['pets:read'] }],
    [404, 'no such animal', get('/v1/pets/0')],
    [404, 'no such route', get('/v1/nothing')],
    [404, 'a route in capitals', get('/V1/pets')],
    [405, 'a wrong method', ['DELETE', '/v1/pets', {}]],
    [406, 'an Accept that excludes JSON', get('/v1/pets', { headers: { accept: 'text/html' } })],
    [410, 'a removed operation', get('/v1/pets/1'), { at: REMOVED }],
    [413, 'a body that is too large', post('x'.repeat(200_000))],
    [414, 'a target that is too long', get(`/v1/pets?${'x'.repeat(8_200)}`)],
    [415, 'a body that is not JSON', post('a', { 'content-type': 'text/plain' })],
    [429, 'over the limit', get('/v1/pets'), { plan: 'enterprise', limits: { perMinute: 1, perDay: 2 } }],
  ] as [number, string, [string, string, RequestOptions], TestServiceOptions?][])(
    '%i: %s',
    async (status, _, [method, path, request], options = {}) => {
      const service = await open(options);
      if (status === 429) await service.request('GET', '/v1/pets');
      const response = await service.request(method, path, request);
      expect(response.status).toBe(status);
      const { limit, remaining, reset } = numbersOf(response);
      expect(limit).toBeGreaterThan(0);
      expect(remaining).toBe(status === 429 ? 0 : limit - 1);
      expect(reset).toBe(Math.ceil((service.clock.now() + 1) / 60_000) * 60);
      expect(response.headers.has('retry-after')).toBe(status === 429);
    },
  );

  it('422: an Idempotency-Key of another request', async () => {
    const service = await open();
    await service.request(...post(PET, { 'idempotency-key': 'a' }));
    const response = await service.request(...post({ ...PET, name: 'Max' }, { 'idempotency-key': 'a' }));
    expect(response.status).toBe(422);
    expect(numbersOf(response)).toEqual({
      limit: 1_000,
      remaining: 998,
      reset: Math.ceil((service.clock.now() + 1) / 60_000) * 60,
    });
  });
});

describe('every 429 carries Retry-After, which leads to the reset of every other header', () => {
  it.each([
    [
      'of the minute',
      'rate_limit_exceeded',
      { perMinute: 1, perDay: 5 },
      (service: TestService) => hammer(service, 2),
    ],
    [
      'of the day',
      'daily_quota_exceeded',
      { perMinute: 5, perDay: 1 },
      (service: TestService) => hammer(service, 2),
    ],
    [
      'of a ban',
      'api_key_banned',
      { perMinute: 60, perDay: 5_000 },
      (service: TestService) => earnBan(service),
    ],
    [
      'of an address',
      'rate_limit_exceeded',
      { perMinute: 60, perDay: 5_000 },
      async (service: TestService) => {
        for (let sent = 0; sent < 60; sent += 1) await service.request('GET', '/v1/pets', { key: null });
        return service.request('GET', '/v1/pets', { key: null });
      },
    ],
  ])('%s', async (_, code, limits, refuse) => {
    const service = await open({ plan: 'enterprise', limits });
    const response = await refuse(service);
    expect([response.status, response.body.code]).toEqual([429, code]);
    const { remaining, reset } = numbersOf(response);
    const wait = Number(response.headers.get('retry-after'));
    expect(remaining).toBe(0);
    // Both are whole seconds, rounded up.
    expect(Math.abs(service.clock.now() / 1000 + wait - reset)).toBeLessThan(1);
    expect(response.headers.get('ratelimit')).toContain(`;r=0;t=${wait}`);
    expect(response.body.message).toContain(` in ${wait} s.`);
  });
});
