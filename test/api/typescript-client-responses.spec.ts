import { inspect } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import {
  PetNotFoundError,
  PetstoreClient,
  PetstoreClientError,
  PetstoreError,
  verifyWebhook,
} from '../../clients/typescript/src/index.js';
import { KEY, REX, all, errorOf, pet, scriptedClient } from '../support/scripted-client.js';
import { type Step, json, refusal, scriptedServer } from '../support/scripted-server.js';

const MOST = 2n ** 63n - 1n;
const LEAST = -(2n ** 63n);
const html =
  (status: number, text: string): Step =>
  (response) =>
    void response.writeHead(status, { 'Content-Type': 'text/html', 'X-Request-Id': 'r-2' }).end(text);
const next = (target: string) => ({ Link: `<${target}>; rel="next", </v1/pets?limit=1>; rel="first"` });

describe('a 64-bit integer is exact', () => {
  it.each([1n, 0n, -1n, MOST, LEAST, 2n ** 53n + 1n, -(2n ** 53n) - 1n])('received: %s', async (id) => {
    const response = json(201, pet(String(id), ',"more":[9223372036854775807,12,1.5]'));
    const { client } = await scriptedClient([response]);
    const big = await client.pets.create(REX);
    expect(big).toEqual({ ...REX, id, categoryId: 1n, status: 'available', more: [MOST, 12, 1.5] });
    const text = await (await scriptedClient([response], { int64: 'string' })).client.pets.create(REX);
    expect(text).toMatchObject({ id: String(id), categoryId: '1', more: [String(MOST), 12, 1.5] });
    // As JSON both forms are the same.
    expect(JSON.parse(JSON.stringify([big]))).toEqual([text]);
    expect(JSON.parse(JSON.stringify({ ...text }))).toEqual(text);
  });

  it.each<[bigint | number | string, string]>([
    [MOST, '9223372036854775807'],
    [LEAST, '-9223372036854775808'],
    ['9223372036854775807', '9223372036854775807'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    [-3, '-3'],
    ['0', '0'],
  ])('sent: %s', async (categoryId, digits) => {
    const { client, arrived } = await scriptedClient([json(201, pet(digits))]);
    const added = await client.pets.create({ name: 'R"ex\u2028', categoryId, status: 'sold' });
    await client.call('getPet', { path: { petId: categoryId } });
    await client.call('createPet', { body: added });
    expect(arrived[0]?.body).toBe(`{"name":"R\\"ex\u2028","categoryId":${digits},"status":"sold"}`);
    expect(arrived[1]?.url).toBe(`/v1/pets/${digits}`);
    expect(arrived[2]?.body).toBe(pet(digits));
  });

  const inexact = [2 ** 53, 1.5, Number.NaN, MOST + 1n, String(MOST + 1n), '1e3', '01', '', true, {}];
  it.each(inexact)('or refused before anything is sent: %s', async (value) => {
    const { client, arrived } = await scriptedClient([json(201, pet('1'))]);
    const categoryId = value as bigint;
    const error = await errorOf(client.pets.create({ name: 'Rex', categoryId }));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain('categoryId must be an integer');
    expect(String(await errorOf(client.call('getPet', { path: { petId: categoryId } })))).toContain('petId');
    expect(arrived).toEqual([]);
  });
});

describe('a response that is not from the service is an UnexpectedResponseError', () => {
  const got = (text: string): [string, Step] => [`200 with ${text.slice(0, 40)}`, json(200, text)];
  it.each<[string, Step]>([
    ['HTML with 200', html(200, '<p>Login</p>')],
    ['HTML with 403', html(403, '<p>WAF</p>')],
    ['no content type', (response) => void response.writeHead(200).end('[]')],
    ['another error body', json(400, '{"error":"x"}')],
    ['an error body that is no JSON', json(400, '{"code":')],
    ...['[{"id":1', '[] []', '{"pets":[]}', '', 'null', '["1"]', '[1]', `${'['.repeat(500_000)}1.5`].map(
      (text) => got(text),
    ),
    ...['"1"', 'true', '1.5', '9223372036854775808', '1e30'].map((id) => got(`[${pet(id)}]`)),
    ['204', (response) => void response.writeHead(204).end()],
    ['304', (response) => void response.writeHead(304).end()],
  ])('%s', async (_, step) => {
    const { client, arrived } = await scriptedClient([step]);
    expect(await errorOf(all(client.pets.list()))).toMatchObject({ name: 'UnexpectedResponseError' });
    expect(arrived).toHaveLength(1);
  });

  it('as is a redirect, which is not followed: the key is sent nowhere else', async () => {
    const other = await scriptedServer(json(200, '[]'));
    const { client } = await scriptedClient([
      (response) => void response.writeHead(307, { Location: `${other.url}/v1/pets` }).end(),
    ]);
    const error = await errorOf(all(client.pets.list()));
    expect(error).toMatchObject({ name: 'UnexpectedResponseError', status: 307 });
    expect(other.arrived).toEqual([]);
  });
});

describe('an error response', () => {
  const details = [{ field: 'name', code: 'required', message: 'This field is required.' }];

  it('is of the class of its code, with all that the service says', async () => {
    const headers = {
      'X-Request-Id': 'r-1',
      Link: '</docs/errors#x>; rel="help", </docs>; rel="deprecation"',
    };
    const body = { code: 'pet_not_found', message: 'No.', status: 404, details };
    const { client, url } = await scriptedClient([json(404, JSON.stringify(body), headers)]);
    const error = await errorOf(client.call('getPet', { path: { petId: 5 } }));
    expect(error).toBeInstanceOf(PetNotFoundError);
    expect(error).toBeInstanceOf(PetstoreClientError);
    const expected = { name: 'PetNotFoundError', ...body, requestId: 'r-1', help: `${url}/docs/errors#x` };
    expect(error).toMatchObject(expected);
    expect(JSON.parse(JSON.stringify(error))).toEqual(expected);
  });

  it.each(['gizmo_not_found', 'constructor', '__proto__'])('of an unknown code: %s', async (code) => {
    const { client } = await scriptedClient([
      refusal(404, code, { Link: '<javascript:alert(1)>; rel="help"' }),
    ]);
    const error = await errorOf(client.pets.create(REX));
    expect(Object.getPrototypeOf(error)).toBe(PetstoreError.prototype);
    expect(error).toMatchObject({ code, status: 404, help: undefined });
  });
});

describe('a list', () => {
  const pages = [
    json(200, `[${pet('1')}]`, next('/v1/pets?limit=1&cursor=a%2Bb')),
    json(200, `[${pet('2')}]`, next('https://other.example/elsewhere?limit=1&cursor=c')),
    json(200, `[${pet('3')}]`, { Link: '</v1/pets>; title="rel=next"; rel=first' }),
  ];

  it('continues with the query of the next page, and never leaves its URL', async () => {
    const { client, arrived } = await scriptedClient(pages);
    const ids = (await all(client.pets.list({ limit: 1, status: 'sold' }))).map(({ id }) => id);
    expect(ids).toEqual([1n, 2n, 3n]);
    expect(arrived.map(({ url }) => url)).toEqual([
      '/v1/pets?limit=1&status=sold',
      '/v1/pets?limit=1&cursor=a%2Bb',
      '/v1/pets?limit=1&cursor=c',
    ]);
  });

  it.each([
    ['cannot be read', [next('http://[')]],
    ['leads to the same page again', [next('/v1/pets?cursor=a'), next('/v1/pets?cursor=a')]],
  ])('is not taken for whole where the link to the next page %s', async (_, links) => {
    const { client } = await scriptedClient(links.map((link) => json(200, `[${pet('1')}]`, link)));
    const error = await errorOf(all(client.pets.list()));
    expect(error).toMatchObject({ name: 'UnexpectedResponseError', status: 200 });
  });
});

it('the quota is that of the last response, except a 429 of a separate limit', async () => {
  const quotaHeaders = {
    'X-RateLimit-Limit': '60',
    'X-RateLimit-Remaining': '59',
    'X-RateLimit-Reset': '1795132860',
  };
  const { client } = await scriptedClient([
    json(200, '[]', quotaHeaders),
    refusal(429, 'rate_limit_exceeded', {
      ...quotaHeaders,
      'X-RateLimit-Limit': '30',
      'Retry-After': '4000',
    }),
    json(200, '[]'),
    refusal(404, 'pet_not_found', { ...quotaHeaders, 'X-RateLimit-Remaining': '57' }),
  ]);
  const quotas: unknown[] = [client.quota];
  const list = () => all(client.pets.list());
  for (const call of [list, () => client.call('getAccount'), list, list]) {
    await errorOf(call());
    quotas.push(client.quota);
  }
  const quota = { limit: 60, remaining: 59, resetsAt: new Date(1_795_132_860_000) };
  expect(quotas).toEqual([undefined, quota, quota, quota, { ...quota, remaining: 57 }]);
});

describe('the key is in no error and in nothing that is printed', () => {
  const echo =
    (respond: (key: string) => Step): Step =>
    (response, request) =>
      respond(String(request.headers.authorization))(response, request);
  it.each<[string, Step]>([
    ['a page that quotes it', echo((key) => html(500, key))],
    ['JSON that cannot be read', echo((key) => json(200, `[${key} 1.5`))],
    ['a broken connection', (response) => response.socket?.resetAndDestroy()],
  ])('%s', async (_, step) => {
    const { client } = await scriptedClient([step], { retry: { retries: 0 } });
    const error = await errorOf(all(client.pets.list()));
    expect(error).toBeInstanceOf(PetstoreClientError);
    for (const shown of [error, client])
      expect(inspect(shown, { depth: 9, showHidden: true }) + JSON.stringify(shown)).not.toContain(KEY);
  });
});

describe('a wrong argument is a TypeError before anything is sent', () => {
  const BASES =
    'v1 /v1 ftp://a.b/v1 https://a.b https://a.b/v1/pets https://a.b/v1?a=1 https://a.b/v1#a https://me:secret@a.b/v1';
  it.each<Record<string, unknown>>([
    ...BASES.split(' ').map((baseUrl) => ({ baseUrl })),
    ...['pst_test_1\n', 'pst secret', 'pst_tést', '', 5].map((apiKey) => ({ apiKey })),
    ...[0, Number.NaN].map((timeoutMs) => ({ timeoutMs })),
    ...[{ retries: -1 }, { retries: 1.5 }, { budgetMs: Number.NaN }].map((retry) => ({ retry })),
    { int64: 'number' },
  ])('the options %j', (options) => {
    const made = () => new PetstoreClient({ baseUrl: 'https://api.example/v1', apiKey: KEY, ...options });
    expect(made).toThrow(TypeError);
    expect(made).not.toThrow(/secret/);
  });

  it.each<[string, (client: PetstoreClient) => Promise<unknown>]>([
    ['an empty path', (client) => client.call('revokeOwnKey', { path: { keyId: '' } })],
    ['another path', (client) => client.call('revokeOwnKey', { path: { keyId: '..' } })],
    ['a key with a space', (client) => client.pets.create(REX, { idempotencyKey: 'a b' })],
    ['a long key', (client) => client.pets.create(REX, { idempotencyKey: 'x'.repeat(256) })],
    [
      'a key that is not taken',
      (client) => client.call('issueOwnKey', { body: {} }, { idempotencyKey: 'a' }),
    ],
    [
      'a number that JSON has no text for',
      (client) => client.pets.create({ ...REX, a: Number.NaN } as never),
    ],
  ])('%s', async (_, call) => {
    const { client, arrived } = await scriptedClient([json(201, '{}')]);
    expect(await errorOf(call(client))).toBeInstanceOf(TypeError);
    expect(arrived).toEqual([]);
  });
});

describe('verifyWebhook()', () => {
  const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const OTHER = 'whsec_AAAA9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const BODY = `{"type":"pets.created","timestamp":"2026-11-20T12:00:10.250Z","data":${pet('9007199254740993')}}`;
  const signed = (secrets: readonly string[], secondsAgo = 0) => {
    const date = new Date(Date.now() - secondsAgo * 1_000);
    return {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(date.getTime() / 1_000)),
      'webhook-signature': secrets.map((secret) => new Webhook(secret).sign('msg_1', date, BODY)).join(' '),
    };
  };

  it.each<[string, Parameters<typeof verifyWebhook>]>([
    ['headers of Node.js', [BODY, signed([SECRET]), SECRET]],
    ['headers of fetch, and bytes', [new TextEncoder().encode(BODY), new Headers(signed([SECRET])), SECRET]],
    ['signatures by two secrets', [BODY, signed([OTHER, SECRET]), SECRET]],
    ['a clock that is behind', [BODY, signed([SECRET], -290), SECRET]],
  ])('accepts %s', async (_, input) => {
    const message = await verifyWebhook(...input);
    expect(message).toMatchObject({ id: 'msg_1', type: 'pets.created', data: { id: 9007199254740993n } });
    const text = await verifyWebhook(input[0], input[1], input[2], { int64: 'string' });
    expect(text.data).toMatchObject({ id: '9007199254740993', categoryId: '1' });
  });

  it.each<[string, Parameters<typeof verifyWebhook>]>([
    ['another secret', [BODY, signed([OTHER]), SECRET]],
    ['another body', [`${BODY} `, signed([SECRET]), SECRET]],
    ['another id', [BODY, { ...signed([SECRET]), 'webhook-id': 'msg_2' }, SECRET]],
    ['an old message', [BODY, signed([SECRET], 3_600), SECRET]],
    ['a message of the future', [BODY, signed([SECRET], -3_600), SECRET]],
    ['no time', [BODY, { ...signed([SECRET]), 'webhook-timestamp': undefined }, SECRET]],
    ['no signature', [BODY, { ...signed([SECRET]), 'webhook-signature': 'v1,x v2,x' }, SECRET]],
    ['no headers', [BODY, {}, SECRET]],
  ])('refuses %s', async (_, input) => {
    expect(await errorOf(verifyWebhook(...input))).toMatchObject({ name: 'WebhookVerificationError' });
  });
});
