import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  ApiKeyBannedError,
  ConnectionError,
  DailyQuotaExceededError,
  InternalError,
  PetstoreClient,
  PetstoreError,
  RateLimitExceededError,
  ServiceUnavailableError,
  TimeoutError,
  UnexpectedResponseError,
} from '../../clients/typescript/src/index.js';
import type { ClientOptions } from '../../clients/typescript/src/index.js';
import { ControlledChances } from '../support/controlled-chances.js';
import { type Step, json, refusal, scriptedServer } from '../support/scripted-server.js';

const KEY = 'pst_test_1234567890';
const REX = { name: 'Rex', categoryId: 1 };
const PET = '{"id":9007199254740993,"name":"Rex","categoryId":1,"status":"available"}';
const created = json(201, PET);
const list = json(200, '[]');
const reset: Step = (response) => response.socket?.resetAndDestroy();
/** Sends half of what it announces, then ends the connection. */
const half: Step = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '500' });
  response.write('[{"id":1', () => response.socket?.destroy());
};
const never: Step = () => undefined;
const html: Step = (response) =>
  void response.writeHead(502, { 'Content-Type': 'text/html' }).end('<h1>Bad Gateway</h1>');

async function open(script: readonly Step[], options: Partial<ClientOptions> = {}) {
  const server = await scriptedServer(...script);
  const chances = new ControlledChances();
  const client = new PetstoreClient({
    baseUrl: `${server.url}/v1`,
    apiKey: KEY,
    ...chances.options,
    ...options,
  });
  return { ...server, chances, client };
}

const all = async <Entry>(entries: AsyncIterable<Entry>): Promise<Entry[]> => {
  const found: Entry[] = [];
  for await (const entry of entries) found.push(entry);
  return found;
};
const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a call is repeated', () => {
  it('after 429, with the same Idempotency-Key and the same bytes, when Retry-After is over', async () => {
    const { client, chances, arrived } = await open([
      refusal(429, 'rate_limit_exceeded', { 'Retry-After': '31' }),
      created,
    ]);
    expect(await client.pets.create(REX)).toMatchObject({ id: 9007199254740993n });
    expect(chances.waits).toEqual([31_500]);
    const [first, second] = arrived;
    expect(second?.body).toBe(first?.body);
    expect(first?.headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/);
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
  });

  it('with another Idempotency-Key for every call, or the one of the caller', async () => {
    const { client, arrived } = await open([created]);
    await client.pets.create(REX);
    await client.pets.create(REX);
    await client.pets.create(REX, { idempotencyKey: 'mine' });
    const keys = arrived.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBe('mine');
  });

  it.each([
    ['a date, by the Date of the answer', { Date: 'Fri, 20 Nov 2026 15:00:00 GMT' }, 20_500],
    ['a date, by the own clock where there is no Date', {}, 3 * 3_600_000 + 20_500],
  ])('after what Retry-After says: %s', async (_, headers, wait) => {
    const told: Step = (response, request) => {
      response.sendDate = false;
      refusal(429, 'x', { 'Retry-After': 'Fri, 20 Nov 2026 15:00:20 GMT', ...headers })(response, request);
    };
    const { client, chances } = await open([told, list], { retry: { budgetMs: 86_400_000 } });
    expect(await all(client.pets.list())).toEqual([]);
    expect(chances.waits).toEqual([wait]);
  });

  it.each(['soon', '-5', '1.5', '2026-11-20', ''])('as without one after Retry-After: %s', async (value) => {
    const { client, chances } = await open([refusal(503, 'x', { 'Retry-After': value }), list]);
    await all(client.pets.list());
    expect(chances.waits).toEqual([500]);
  });

  it('later each time where the service does not say when', async () => {
    const { client, chances } = await open(
      [...Array.from({ length: 8 }, () => refusal(503, 'service_unavailable')), list],
      {
        retry: { retries: 8, budgetMs: 1_000_000 },
      },
    );
    await all(client.pets.list());
    expect(chances.waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
  });

  it.each<[string, Step]>([
    ['408', refusal(408, 'request_timeout')],
    ['500', refusal(500, 'internal_error')],
    ['502 as HTML', html],
    ['503', refusal(503, 'service_unavailable', { 'Retry-After': '1' })],
    ['504', refusal(504, 'x')],
    ['a reset', reset],
    ['half an answer', half],
  ])('after %s, if reading or with an Idempotency-Key', async (_, fault) => {
    const reading = await open([fault, list]);
    expect(await all(reading.client.pets.list())).toEqual([]);
    const writing = await open([fault, created]);
    await writing.client.pets.create(REX);
    const keys = writing.arrived.map(({ headers, body }) => `${String(headers['idempotency-key'])} ${body}`);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  it.each<[string, Step, new (...args: never[]) => Error]>([
    ['500', refusal(500, 'internal_error'), InternalError],
    ['502 as HTML', html, UnexpectedResponseError],
    ['503', refusal(503, 'service_unavailable', { 'Retry-After': '1' }), ServiceUnavailableError],
    ['a reset', reset, ConnectionError],
    ['half an answer', half, ConnectionError],
  ])('not after %s, if it may have been carried out', async (_, fault, type) => {
    const { client, arrived } = await open([fault]);
    expect(await errorOf(client.account.keys.issue({ scopes: ['pets:read'] }))).toBeInstanceOf(type);
    expect(arrived).toHaveLength(1);
  });

  it('after 429 also when it has no Idempotency-Key, since it was not carried out', async () => {
    const { client, arrived } = await open([
      refusal(429, 'rate_limit_exceeded', { 'Retry-After': '1' }),
      json(201, '{}'),
    ]);
    await client.account.keys.issue({ scopes: ['pets:read'] });
    expect(arrived).toHaveLength(2);
  });

  it('while the first attempt is still running, and not after another 409', async () => {
    const running = await open([
      refusal(409, 'idempotency_in_progress', { 'Retry-After': '1' }),
      refusal(409, 'idempotency_in_progress', { 'Retry-After': '1' }),
      created,
    ]);
    await running.client.pets.create(REX);
    expect(running.chances.waits).toEqual([1_500, 1_500]);
    const taken = await open([refusal(409, 'already_exists')]);
    expect(await errorOf(taken.client.pets.create(REX))).toMatchObject({ code: 'already_exists' });
    expect(taken.arrived).toHaveLength(1);
  });

  it('after a time limit, until no retry is left', async () => {
    const { client, chances, arrived } = await open([never], { retry: { retries: 2 } });
    const failed = errorOf(all(client.pets.list()));
    for (const attempt of [1, 2, 3]) {
      await expect.poll(() => arrived.length).toBe(attempt);
      chances.timeOut();
    }
    expect(await failed).toBeInstanceOf(TimeoutError);
    expect(chances.waits).toEqual([500, 1_000]);
    expect(chances.running).toBe(0);
  });

  it('with the key that is valid then', async () => {
    const keys = ['first', 'second'];
    const { client, arrived } = await open([refusal(503, 'x'), list], {
      apiKey: async () => keys.shift() ?? '',
    });
    await all(client.pets.list());
    expect(arrived.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', 'Bearer second']);
  });
});

describe('a wait is not begun', () => {
  it('when it does not fit into the budget: the error says when to come back', async () => {
    const { client, chances, arrived } = await open([
      refusal(429, 'daily_quota_exceeded', { 'Retry-After': '40210' }),
    ]);
    const error = await errorOf(client.pets.create(REX));
    expect(error).toBeInstanceOf(DailyQuotaExceededError);
    expect(error).toMatchObject({ retryAfterMs: 40_210_000, status: 429 });
    expect([chances.waits, arrived.length]).toEqual([[], 1]);
  });

  it('when what is left of the budget is too little', async () => {
    const { client, chances, arrived } = await open([refusal(503, 'x', { 'Retry-After': '25' })]);
    expect(await errorOf(all(client.pets.list()))).toBeInstanceOf(PetstoreError);
    expect(chances.waits).toEqual([25_500, 25_500]);
    expect(arrived).toHaveLength(3);
  });

  it('with retries: 0, and nothing is repeated', async () => {
    const { client, chances, arrived } = await open(
      [refusal(429, 'rate_limit_exceeded', { 'Retry-After': '1' })],
      {
        retry: { retries: 0 },
      },
    );
    expect(await errorOf(all(client.pets.list()))).toBeInstanceOf(RateLimitExceededError);
    expect(await errorOf(all(client.pets.list()))).toBeInstanceOf(RateLimitExceededError);
    expect([chances.waits, arrived.length]).toEqual([[], 1]);
  });

  it('when a service in trouble has been asked again often: 10 times at once, then every fifth request', async () => {
    const { client, arrived } = await open([refusal(503, 'service_unavailable')]);
    for (let call = 0; call < 100; call += 1) await errorOf(all(client.pets.list()));
    // 100 requests, 10 retries at once, and 20 for the requests; the first of which found the bucket full.
    expect(arrived.length).toBeGreaterThanOrEqual(128);
    expect(arrived.length).toBeLessThanOrEqual(130);
  });
});

describe('after a 429 other calls of the client are held back', () => {
  const exhausted = refusal(429, 'rate_limit_exceeded', { 'Retry-After': '30' });

  it('until its Retry-After is over, each for some more by chance', async () => {
    const { client, chances, arrived } = await open([exhausted, list]);
    chances.doWaitsPass = false;
    const ended = new AbortController();
    const first = errorOf(all(client.pets.list({}, { signal: ended.signal })));
    await expect.poll(() => chances.waits).toEqual([30_500]);
    chances.doWaitsPass = true;
    chances.pass(10_000);
    expect(await all(client.pets.list())).toEqual([]);
    expect(chances.waits).toEqual([30_500, 20_500]);
    expect(arrived).toHaveLength(2);
    ended.abort();
    await first;
  });

  it('or refused at once, without a request, when they cannot wait so long; then they are let through', async () => {
    const { client, chances, arrived } = await open([
      refusal(429, 'daily_quota_exceeded', { 'Retry-After': '4000' }),
      list,
    ]);
    await errorOf(client.pets.create(REX));
    chances.pass(1_000_000);
    const error = await errorOf(all(client.pets.list()));
    expect(error).toBeInstanceOf(DailyQuotaExceededError);
    expect(error).toMatchObject({ retryAfterMs: 3_000_000, message: 'No.' });
    expect(arrived).toHaveLength(1);
    chances.pass(3_000_000);
    expect(await all(client.pets.list())).toEqual([]);
  });

  it('but not what has a bound of its own, which holds itself back alone', async () => {
    const long = { 'Retry-After': '4000' };
    const { client, arrived } = await open([
      refusal(429, 'rate_limit_exceeded', long),
      json(200, '{}'),
      refusal(429, 'rate_limit_exceeded', long),
      json(200, '[]'),
    ]);
    await errorOf(all(client.pets.list()));
    await client.account.get();
    expect(await errorOf(client.account.usage())).toBeInstanceOf(RateLimitExceededError);
    expect(await errorOf(client.account.get())).toBeInstanceOf(RateLimitExceededError);
    expect(await all(client.account.keys.list())).toEqual([]);
    expect(arrived.map(({ url }) => url)).toEqual([
      '/v1/pets',
      '/account',
      '/account/usage',
      '/account/keys',
    ]);
  });

  it('by a ban all that a banned key is refused, but not what ends keys', async () => {
    const { client, arrived } = await open([
      refusal(429, 'api_key_banned', { 'Retry-After': '290' }),
      json(200, '{}'),
    ]);
    expect(await errorOf(client.account.keys.issue({}))).toBeInstanceOf(ApiKeyBannedError);
    expect(await errorOf(client.pets.create(REX))).toBeInstanceOf(ApiKeyBannedError);
    await client.account.keys.revoke('5f5ab0d6-5b0f-4c0e-9d2c-6d8ab0a4a6cf');
    await client.account.get();
    expect(arrived).toHaveLength(3);
  });

  it('but not those of another key', async () => {
    let key = 'first';
    const { client } = await open([refusal(429, 'api_key_banned', { 'Retry-After': '290' }), list], {
      apiKey: () => key,
    });
    expect(await errorOf(all(client.pets.list()))).toBeInstanceOf(ApiKeyBannedError);
    key = 'second';
    expect(await all(client.pets.list())).toEqual([]);
  });
});

describe('an aborted signal ends a call at once with its reason, and leaves nothing behind', () => {
  const reason = new Error('no longer wanted');
  const hanging = new Promise<string>(() => undefined);

  it.each<[string, readonly Step[], Partial<ClientOptions>, (arrived: number, waits: number) => boolean]>([
    ['while the answer is awaited', [never], {}, (arrived) => arrived === 1],
    ['while the answer is read', [half], {}, (arrived) => arrived === 1],
    [
      'while it waits to try again',
      [refusal(503, 'x', { 'Retry-After': '20' })],
      {},
      (_, waits) => waits === 1,
    ],
    ['while the key is awaited', [list], { apiKey: () => hanging }, () => true],
  ])('%s', async (_, script, options, isThere) => {
    const slow: Step = (response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).write('[');
    };
    const { client, chances, arrived } = await open(
      script.map((step) => (step === half ? slow : step)),
      options,
    );
    chances.doWaitsPass = false;
    const controller = new AbortController();
    const failed = errorOf(all(client.pets.list({}, { signal: controller.signal })));
    await expect.poll(() => isThere(arrived.length, chances.waits.length)).toBe(true);
    controller.abort(reason);
    expect(await failed).toBe(reason);
    expect(chances.running).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('while it is held back', async () => {
    const { client, chances } = await open([
      refusal(429, 'rate_limit_exceeded', { 'Retry-After': '100' }),
      list,
    ]);
    await errorOf(all(client.pets.list()));
    chances.pass(70_000);
    chances.doWaitsPass = false;
    const controller = new AbortController();
    const failed = errorOf(client.pets.create(REX, { signal: controller.signal }));
    await expect.poll(() => chances.waits.length).toBe(1);
    controller.abort(reason);
    expect(await failed).toBe(reason);
    expect(chances.running).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('before anything is sent', async () => {
    const { client, arrived } = await open([created]);
    expect(await errorOf(client.pets.create(REX, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(arrived).toEqual([]);
  });

  it('also when fetch does not listen to it', async () => {
    const { client, chances } = await open([created], { fetch: () => new Promise(() => undefined) });
    const controller = new AbortController();
    const failed = errorOf(client.pets.create(REX, { signal: controller.signal }));
    await expect.poll(() => chances.running).toBe(1);
    controller.abort(reason);
    expect(await failed).toBe(reason);
  });

  it('and a call that succeeds leaves no listener and no timer', async () => {
    const { client, chances } = await open([
      refusal(503, 'x'),
      refusal(429, 'y', { 'Retry-After': '1' }),
      created,
    ]);
    const controller = new AbortController();
    await client.pets.create(REX, { signal: controller.signal });
    expect([chances.running, getEventListeners(controller.signal, 'abort').length]).toEqual([0, 0]);
  });
});
