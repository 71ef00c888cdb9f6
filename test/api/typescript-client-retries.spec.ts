import { getEventListeners } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ClientOptions, PetstoreClient } from '../../clients/typescript/src/index.js';
import { REX, all, created, errorOf, scriptedClient } from '../support/scripted-client.js';
import { type Step, json, refusal } from '../support/scripted-server.js';

const list = json(200, '[]');
const issued = json(201, '{}');
const reset: Step = (response) => response.socket?.resetAndDestroy();
/** Sends half of what it announces, then ends the connection. */
const half: Step = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '500' });
  response.write('[{"id":1', () => response.socket?.destroy());
};
const never: Step = () => undefined;
const html: Step = (response) =>
  void response.writeHead(502, { 'Content-Type': 'text/html' }).end('<h1>Bad Gateway</h1>');
const limited = (seconds: string, code = 'rate_limit_exceeded') =>
  refusal(429, code, { 'Retry-After': seconds });
const down = (retryAfter?: string) =>
  refusal(503, 'service_unavailable', retryAfter === undefined ? {} : { 'Retry-After': retryAfter });
const running = refusal(409, 'idempotency_in_progress', { 'Retry-After': '1' });
const GMT = 'Fri, 20 Nov 2026 15:00';
const dated = refusal(503, 'x', { 'Retry-After': `${GMT}:20 GMT`, Date: `${GMT}:00 GMT` });

type Call = (client: PetstoreClient) => Promise<unknown>;
const read: Call = (client) => all(client.pets.list());
const create: Call = (client) => client.pets.create(REX);
/** Accepts no Idempotency-Key. */
const issue: Call = (client) => client.call('issueOwnKey', { body: { scopes: ['pets:read'] } });

describe('a call waits and is repeated, or not', () => {
  /** Call, script, options, the waits, and the error that it ends with. */
  type Row = [string, Call, readonly Step[], ClientOptions['retry'], readonly number[], string?];
  const unsafe = (what: string, fault: Step, name: string): Row => [what, issue, [fault], {}, [], name];
  it.each<Row>([
    ['429', create, [limited('31'), created], {}, [31_500]],
    ['429 without an Idempotency-Key', issue, [limited('1'), issued], {}, [1_500]],
    ['a date, by the Date of the response', read, [dated, list], {}, [20_500]],
    ...['soon', '-5', '1.5', '2026-11-20', ''].map((value): Row => [
      `Retry-After: ${value}`,
      read,
      [down(value), list],
      {},
      [500],
    ]),
    [
      '503 again and again, up to 30 s',
      read,
      [...Array.from({ length: 8 }, () => down()), list],
      { retries: 8, budgetMs: 1e6 },
      [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000],
    ],
    ...[refusal(408, 'x'), refusal(500, 'x'), html, refusal(504, 'x'), reset, half].flatMap(
      (fault, at): Row[] => [
        [`unknown outcome ${at} of a read`, read, [fault, list], {}, [500]],
        [`unknown outcome ${at} of a create`, create, [fault, created], {}, [500]],
      ],
    ),
    unsafe('500 of what may have been done', refusal(500, 'internal_error'), 'InternalError'),
    unsafe('HTML of what may have been done', html, 'UnexpectedResponseError'),
    unsafe('503 of what may have been done', down('1'), 'ServiceUnavailableError'),
    unsafe('a reset of what may have been done', reset, 'ConnectionError'),
    unsafe('half a response of what may have been done', half, 'ConnectionError'),
    ['a first attempt that is running', create, [running, running, created], {}, [1_500, 1_500]],
    ['another 409', create, [refusal(409, 'already_exists')], {}, [], 'PetstoreError'],
    [
      'more than the budget',
      create,
      [limited('40210', 'daily_quota_exceeded')],
      {},
      [],
      'DailyQuotaExceededError',
    ],
    ['more than is left of the budget', read, [down('25')], {}, [25_500, 25_500], 'ServiceUnavailableError'],
    ['no retries', read, [limited('1')], { retries: 0 }, [], 'RateLimitExceededError'],
    ['no retry left', read, [down()], { retries: 2 }, [500, 1_000], 'ServiceUnavailableError'],
  ])('%s', async (_, call, script, retry, waits, name) => {
    const { client, time, arrived } = await scriptedClient(script, { retry });
    expect(await errorOf(call(client))).toEqual(name && expect.objectContaining({ name }));
    expect(time.waits).toEqual(waits);
    expect(arrived).toHaveLength(waits.length + 1);
    // The same bytes with the same key.
    expect(
      new Set(arrived.map(({ headers, body }) => `${String(headers['idempotency-key'])} ${body}`)).size,
    ).toBe(1);
    expect(arrived[0]?.headers['idempotency-key'] !== undefined).toBe(call === create);
  });

  it('after the limit of an attempt, until no retry is left', async () => {
    const { client, time, arrived } = await scriptedClient([never], { retry: { retries: 2 } });
    const failed = errorOf(read(client));
    for (const attempt of [1, 2, 3]) {
      await expect.poll(() => arrived.length).toBe(attempt);
      time.timeOut();
    }
    expect(await failed).toMatchObject({ name: 'TimeoutError' });
    expect([time.waits, time.timers]).toEqual([[500, 1_000], 0]);
  });

  it('with the API key that is valid then', async () => {
    const keys = ['first', 'second'];
    const { client, arrived } = await scriptedClient([down(), list], {
      apiKey: async () => keys.shift() ?? '',
    });
    await read(client);
    expect(arrived.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', 'Bearer second']);
  });

  it('with another Idempotency-Key for each call, or the one of the caller', async () => {
    const { client, arrived } = await scriptedClient([created]);
    await create(client);
    await create(client);
    await client.pets.create(REX, { idempotencyKey: 'mine' });
    const keys = arrived.map(({ headers }) => String(headers['idempotency-key']));
    expect(keys).toEqual([
      expect.stringMatching(/^[0-9a-f]{32}$/),
      expect.not.stringMatching(keys[0] ?? ''),
      'mine',
    ]);
  });
});

describe('a 429 holds back other calls', () => {
  const account: Call = (client) => client.call('getAccount');
  const usage: Call = (client) => client.call('getAccountUsage');
  const keys: Call = (client) => all(client.list('listOwnKeys'));
  const webhooks: Call = (client) => all(client.list('listOwnWebhooks'));
  const revoke: Call = (client) => client.call('revokeOwnKey', { path: { keyId: '1' } });
  const long = limited('4000');
  const banned = limited('290', 'api_key_banned');

  /** The first response, the calls, and what arrives. */
  it.each<[string, Step, readonly Call[], readonly string[]]>([
    ['for the same limit', long, [create, read, read], ['/v1/pets']],
    ['but not for another limit', long, [read, account], ['/v1/pets', '/account']],
    ['for a separate limit', long, [usage, account, read], ['/account/usage', '/v1/pets']],
    ['for that limit alone', long, [usage, keys], ['/account/usage', '/account/keys']],
    [
      'but not for one that is as large',
      long,
      [webhooks, revoke],
      ['/account/webhooks', '/account/keys/1/revoke'],
    ],
    ['by a ban', banned, [issue, create, issue], ['/account/keys']],
    ['but for what ends keys', banned, [create, revoke], ['/v1/pets', '/account/keys/1/revoke']],
  ])('%s', async (_, step, calls, urls) => {
    const { client, arrived, time } = await scriptedClient([step, issued]);
    for (const call of calls) await errorOf(call(client));
    expect(arrived.map(({ url }) => url)).toEqual(urls);
    expect(time.waits).toEqual([]);
  });

  it('until Retry-After is over, with an error that names what is left', async () => {
    const { client, time, arrived } = await scriptedClient([limited('4000', 'daily_quota_exceeded'), list]);
    await errorOf(create(client));
    time.elapsed += 1_000_000;
    const error = await errorOf(read(client));
    expect(error).toMatchObject({ name: 'DailyQuotaExceededError', retryAfterMs: 3_000_000, message: 'No.' });
    expect(arrived).toHaveLength(1);
    time.elapsed += 2_990_000;
    expect(await read(client)).toEqual([]);
    expect(time.waits).toEqual([10_500]);
  });

  it('but not those with another API key', async () => {
    let key = 'first';
    const { client } = await scriptedClient([banned, list], { apiKey: () => key });
    expect(await errorOf(read(client))).toMatchObject({ name: 'ApiKeyBannedError' });
    key = 'second';
    expect(await read(client)).toEqual([]);
  });
});

describe('an aborted signal ends a call at once with its reason, and leaves no timer and no listener', () => {
  const reason = new Error('no longer wanted');
  const endless: Step = (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).write('[');
  };

  const hanging = () => new Promise<never>(() => undefined);
  it.each<[string, Step, Partial<ClientOptions>, string]>([
    ['while the response is awaited', never, {}, '1 arrived, 0 waits, 1 timers'],
    ['while the response is read', endless, {}, '1 arrived, 0 waits, 1 timers'],
    ['while it waits to retry', down('20'), {}, '1 arrived, 1 waits, 1 timers'],
    ['while the API key is awaited', list, { apiKey: hanging }, '0 arrived, 0 waits, 1 timers'],
  ])('%s', async (_, step, options, state) => {
    const { client, time, arrived } = await scriptedClient([step], options);
    time.doWaitsPass = false;
    const controller = new AbortController();
    const failed = errorOf(all(client.pets.list({}, { signal: controller.signal })));
    const now = () => `${arrived.length} arrived, ${time.waits.length} waits, ${time.timers} timers`;
    await expect.poll(now).toBe(state);
    controller.abort(reason);
    expect(await failed).toBe(reason);
    expect([time.timers, getEventListeners(controller.signal, 'abort')]).toEqual([0, []]);
  });

  it('also 40 calls with the same signal, of which Node.js does not warn', async () => {
    const warnings: string[] = [];
    const warned = ({ name }: Error): number => warnings.push(name);
    process.on('warning', warned);
    onTestFinished(() => void process.off('warning', warned));
    const { client, time, arrived } = await scriptedClient(Array.from({ length: 41 }, () => never));
    const controller = new AbortController();
    const { signal } = controller;
    const failed = Array.from({ length: 40 }, () => errorOf(all(client.pets.list({}, { signal }))));
    await expect.poll(() => arrived.length).toBe(40);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    controller.abort(reason);
    expect(new Set(await Promise.all(failed))).toEqual(new Set([reason]));
    expect([time.timers, getEventListeners(signal, 'abort'), warnings]).toEqual([0, [], []]);
  });
});
