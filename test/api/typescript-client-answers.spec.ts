import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  ConnectionError,
  PetNotFoundError,
  PetstoreClient,
  PetstoreClientError,
  PetstoreError,
  RateLimitExceededError,
  UnexpectedResponseError,
  ValidationFailedError,
} from '../../clients/typescript/src/index.js';
import type { ClientOptions, Int64Form } from '../../clients/typescript/src/index.js';
import { ControlledChances } from '../support/controlled-chances.js';
import { type Step, json, refusal, scriptedServer } from '../support/scripted-server.js';

const KEY = 'pst_test_1234567890';
const REX = { name: 'Rex', categoryId: 1 };
const MOST = 2n ** 63n - 1n;
const LEAST = -(2n ** 63n);

async function open<Form extends Int64Form = 'bigint'>(
  script: readonly Step[],
  options: Partial<ClientOptions<Form>> = {},
) {
  const server = await scriptedServer(...script);
  const chances = new ControlledChances();
  const client = new PetstoreClient<Form>({
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
const pet = (id: string, more = '') => `{"id":${id},"name":"Rex","categoryId":1,"status":"available"${more}}`;

describe('an answer of another shape', () => {
  it.each([
    ['null', 'null'],
    ['an array', '[]'],
    ['a text', '"animal"'],
    ['an id that is a text', pet('"1"')],
    ['an id that is a text, beside a number that may be rounded', pet('"1"', ',"more":1.5')],
    ['an id that is true, beside a number that may be rounded', pet('true', ',"more":1.5')],
    ['an id that is an object', pet('{}')],
  ])('is none of the service: %s', async (_, text) => {
    for (const int64 of ['bigint', 'string'] as const) {
      const { client } = await open([json(200, text)], { int64 });
      expect(await errorOf(client.pets.get(1n))).toBeInstanceOf(UnexpectedResponseError);
    }
  });

  it('as a list is none either, nor one in it', async () => {
    for (const text of ['{}', 'null', '["1"]', '[1]', `[${pet('"1"')}]`]) {
      const { client } = await open([json(200, text)]);
      expect([text, await errorOf(all(client.pets.list()))]).toEqual([
        text,
        expect.any(UnexpectedResponseError),
      ]);
    }
  });
});

describe('an integer of 64 bits is exact', () => {
  it.each([1n, 0n, -1n, MOST, LEAST, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n])('%s', async (id) => {
    const answer = json(201, pet(String(id)));
    const big = await open([answer]);
    expect((await big.client.pets.create(REX)).id).toBe(id);
    const text = await open([answer], { int64: 'string' });
    expect((await text.client.pets.create(REX)).id).toBe(String(id));
  });

  it('in lists, and where no document declares it', async () => {
    const { client } = await open([
      json(200, `[${pet('1')},${pet('9007199254740993', ',"more":[9223372036854775807,12]')}]`),
    ]);
    expect(await all(client.pets.list())).toEqual([
      { id: 1n, name: 'Rex', categoryId: 1n, status: 'available' },
      { id: 9007199254740993n, name: 'Rex', categoryId: 1n, status: 'available', more: [MOST, 12] },
    ]);
  });

  it.each<[bigint | number | string, string]>([
    [MOST, '9223372036854775807'],
    [LEAST, '-9223372036854775808'],
    ['9223372036854775807', '9223372036854775807'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    [-3, '-3'],
    ['0', '0'],
  ])('sent as %s', async (categoryId, digits) => {
    const { client, arrived } = await open([json(201, pet('1'))]);
    await client.pets.create({ name: 'R"ex\u2028', categoryId, status: 'sold' });
    await client.call('getPet', { path: { petId: categoryId } });
    expect(arrived[0]?.body).toBe(`{"name":"R\\"ex\u2028","categoryId":${digits},"status":"sold"}`);
    expect(arrived[1]?.url).toBe(`/v1/pets/${digits}`);
  });

  it.each([
    2 ** 53,
    1.5,
    Number.NaN,
    Infinity,
    MOST + 1n,
    LEAST - 1n,
    '9223372036854775808',
    '1e3',
    '01',
    '',
    ' 1',
    '0x10',
    '9'.repeat(1_000_000),
    null,
    undefined,
    true,
    {},
  ])('or refused before anything is sent: %s', async (value) => {
    const { client, arrived } = await open([json(201, pet('1'))]);
    const categoryId = value as bigint;
    const error = await errorOf(client.pets.create({ name: 'Rex', categoryId }));
    if (value === null || value === undefined) expect(arrived).toHaveLength(1);
    else {
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).toContain('categoryId must be an integer');
      expect(arrived).toEqual([]);
    }
    const asked = await errorOf(client.call('getPet', { path: { petId: categoryId } }));
    expect(asked).toBeInstanceOf(TypeError);
    expect(String(asked)).toContain('petId');
  });

  it.each(['1.5', '9223372036854775808', '1e30', '100000000.000000001', '9.223372036854775807e18x'])(
    'and an answer that has none there is refused: %s',
    async (id) => {
      const { client } = await open([json(201, pet(id))]);
      expect(await errorOf(client.pets.create(REX))).toBeInstanceOf(UnexpectedResponseError);
    },
  );
});

describe('a refusal', () => {
  it('is of the class of its code, with all that the service says', async () => {
    const { client, url } = await open([
      refusal(404, 'pet_not_found', {
        'X-Request-Id': 'r-1',
        Link: '</docs/errors#pet_not_found>; rel="help", </docs>; rel="deprecation"',
      }),
    ]);
    const error = await errorOf(client.call('getPet', { path: { petId: 5 } }));
    expect(error).toBeInstanceOf(PetNotFoundError);
    expect(error).toBeInstanceOf(PetstoreError);
    expect(error).toBeInstanceOf(PetstoreClientError);
    expect(error).toMatchObject({ name: 'PetNotFoundError', code: 'pet_not_found', status: 404 });
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'PetNotFoundError',
      code: 'pet_not_found',
      message: 'No.',
      status: 404,
      details: [],
      requestId: 'r-1',
      help: `${url}/docs/errors#pet_not_found`,
    });
  });

  it('lists every fault', async () => {
    const details = [{ field: 'name', code: 'required', message: 'This field is required.' }];
    const { client } = await open([
      json(400, JSON.stringify({ code: 'validation_failed', message: 'x', status: 400, details })),
    ]);
    const error = await errorOf(client.pets.create(REX));
    expect(error).toBeInstanceOf(ValidationFailedError);
    expect(error).toMatchObject({ details });
  });

  it.each(['toy_not_found', 'constructor', '__proto__'])(
    'of an unknown code is a PetstoreError: %s',
    async (code) => {
      const { client } = await open([refusal(404, code)]);
      const error = await errorOf(client.pets.create(REX));
      expect(Object.getPrototypeOf(error)).toBe(PetstoreError.prototype);
      expect(error).toMatchObject({ code, status: 404 });
    },
  );

  it('never links to what runs', async () => {
    const { client } = await open([refusal(404, 'x', { Link: '<javascript:alert(1)>; rel="help"' })]);
    expect(await errorOf(client.pets.create(REX))).toMatchObject({ help: undefined });
  });
});

describe('an answer that is none of the service', () => {
  it.each<[string, Step]>([
    [
      'HTML with 200',
      (response) => void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>Login</p>'),
    ],
    [
      'HTML with 403',
      (response) => void response.writeHead(403, { 'Content-Type': 'text/html' }).end('<p>WAF</p>'),
    ],
    ['no content type', (response) => void response.writeHead(200).end('[]')],
    ['another error body', json(400, '{"error":"x"}')],
    ['an error body that is no JSON', json(400, '{"code":')],
    ['broken JSON', json(200, '[{"id":1')],
    ['JSON that goes on', json(200, '[] []')],
    ['no list', json(200, '{"pets":[]}')],
    ['nothing', json(200, '')],
    ['204', (response) => void response.writeHead(204).end()],
    ['304', (response) => void response.writeHead(304).end()],
    ['JSON of a depth that no parser takes', json(200, `${'['.repeat(500_000)}1.5`)],
  ])('is an UnexpectedResponseError: %s', async (_, step) => {
    const { client, arrived } = await open([step]);
    expect(await errorOf(all(client.pets.list()))).toBeInstanceOf(UnexpectedResponseError);
    expect(arrived).toHaveLength(1);
  });

  it('tells status, type and how it begins', async () => {
    const { client } = await open([
      (response) =>
        void response
          .writeHead(403, { 'Content-Type': 'text/html', 'X-Request-Id': 'r-2' })
          .end(`<p>${'x'.repeat(999)}`),
    ]);
    expect(await errorOf(all(client.pets.list()))).toMatchObject({
      message: 'GET /v1/pets was answered 403 with a refusal that is none of the service.',
      status: 403,
      contentType: 'text/html',
      bodyStart: `<p>${'x'.repeat(197)}`,
      requestId: 'r-2',
    });
  });

  it('is a redirection, which is not followed: the key goes nowhere else', async () => {
    const other = await scriptedServer(json(200, '[]'));
    const { client } = await open([
      (response) => void response.writeHead(307, { Location: `${other.url}/v1/pets` }).end(),
    ]);
    expect(await errorOf(all(client.pets.list()))).toMatchObject({
      name: 'UnexpectedResponseError',
      status: 307,
    });
    expect(other.arrived).toEqual([]);
  });
});

describe('a list', () => {
  const next = (target: string) => ({ Link: `<${target}>; rel="next", </v1/pets?limit=1>; rel="first"` });

  it('goes on at the query of the next page, and never leaves its address', async () => {
    const other = await scriptedServer(json(200, '[]'));
    const { client, arrived } = await open([
      json(200, `[${pet('1')}]`, next('/v1/pets?limit=1&cursor=a%2Bb')),
      json(200, `[${pet('2')}]`, next(`${other.url}/elsewhere?limit=1&cursor=c`)),
      json(200, `[${pet('3')}]`),
    ]);
    const ids = (await all(client.pets.list({ limit: 1, status: 'sold' }))).map(({ id }) => id);
    expect(ids).toEqual([1n, 2n, 3n]);
    expect(arrived.map(({ url }) => url)).toEqual([
      '/v1/pets?limit=1&status=sold',
      '/v1/pets?limit=1&cursor=a%2Bb',
      '/v1/pets?limit=1&cursor=c',
    ]);
    expect(other.arrived).toEqual([]);
  });

  it('has pages with items, and a cursor to go on at', async () => {
    const { client } = await open([
      json(200, `[${pet('1')}]`, next('/v1/pets?cursor=a')),
      json(200, `[${pet('2')}]`),
    ]);
    const pages = await all(client.pets.list().pages());
    expect(pages.map(({ items, cursor }) => [items.length, cursor])).toEqual([
      [1, 'a'],
      [1, undefined],
    ]);
  });

  it('asks for no page that is not wanted', async () => {
    const { client, arrived } = await open([
      json(200, `[${pet('1')},${pet('2')}]`, next('/v1/pets?cursor=a')),
    ]);
    const found: bigint[] = [];
    for await (const { id } of client.pets.list()) {
      found.push(id);
      if (found.length === 2) break;
    }
    expect([found, arrived.length]).toEqual([[1n, 2n], 1]);
  });

  it('that leads back to a page before ends with an error', async () => {
    const { client, arrived } = await open([
      json(200, `[${pet('1')}]`, next('/v1/pets?cursor=a')),
      json(200, `[${pet('2')}]`, next('/v1/pets?cursor=b')),
      json(200, `[${pet('3')}]`, next('/v1/pets?cursor=a')),
    ]);
    const error = await errorOf(all(client.pets.list()));
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(arrived).toHaveLength(3);
  });

  it('may be read twice, and twice at once', async () => {
    const { client } = await open([
      (response, request) =>
        (request.url.includes('cursor')
          ? json(200, `[${pet('2')}]`)
          : json(200, `[${pet('1')}]`, next('/v1/pets?cursor=a')))(response, request),
    ]);
    const pets = client.pets.list();
    const read = await Promise.all([all(pets), all(pets)]);
    expect([...read, await all(pets)].map((ones) => ones.map(({ id }) => id))).toEqual(
      Array.from({ length: 3 }, () => [1n, 2n]),
    );
  });

  it.each([
    'no link',
    '<broken',
    '</v1/pets?cursor=a>; rel="next',
    '</a>; rel=x junk <b>',
    '</v1/pets?cursor=%>; rel="next"',
    '<http://[>; rel="next"',
  ])('with a Link that cannot be read does not look complete: %s', async (link) => {
    const { client } = await open([json(200, `[${pet('1')}]`, { Link: link })]);
    expect(await errorOf(all(client.pets.list()))).toBeInstanceOf(UnexpectedResponseError);
  });
});

describe('the quota', () => {
  const told = {
    'X-RateLimit-Limit': '60',
    'X-RateLimit-Remaining': '59',
    'X-RateLimit-Reset': '1795132860',
  };

  it('is what the last answer told, refusals too, but not those of other bounds', async () => {
    const { client } = await open([
      json(200, '[]', told),
      refusal(429, 'rate_limit_exceeded', { ...told, 'X-RateLimit-Limit': '30', 'Retry-After': '4000' }),
      json(200, '[]'),
      refusal(404, 'pet_not_found', { ...told, 'X-RateLimit-Remaining': '57' }),
    ]);
    expect(client.quota).toBeUndefined();
    await all(client.pets.list());
    const quota = { limit: 60, remaining: 59, resetsAt: new Date(1_795_132_860_000) };
    expect(client.quota).toEqual(quota);
    expect(await errorOf(client.account.get())).toBeInstanceOf(RateLimitExceededError);
    await all(client.pets.list());
    expect(client.quota).toEqual(quota);
    await errorOf(client.call('getPet', { path: { petId: 1 } }));
    expect(client.quota).toEqual({ ...quota, remaining: 57 });
  });
});

describe('the key is in no error and in nothing that is printed', () => {
  const echo: Step = (response, { headers }) =>
    refusal(400, 'validation_failed', {}, `You sent ${headers.authorization}`)(response, {} as never);
  const echoHtml: Step = (response, { headers }) =>
    void response
      .writeHead(500, { 'Content-Type': 'text/html' })
      .end(`<pre>${JSON.stringify(headers)}</pre>`);
  const echoAsJson: Step = (response, { headers }) =>
    json(200, `[${headers.authorization} 1.5`)(response, {} as never);

  it.each<[string, Step]>([
    ['a refusal that quotes it', echo],
    ['a page that quotes it', echoHtml],
    ['JSON that cannot be read', echoAsJson],
    ['a broken connection', (response) => response.socket?.resetAndDestroy()],
  ])('%s', async (_, step) => {
    const { client } = await open([step], { retry: { retries: 0 } });
    const error = await errorOf(all(client.pets.list()));
    expect(error).toBeInstanceOf(PetstoreClientError);
    for (const text of [inspect(error, { depth: 9, showHidden: true }), JSON.stringify(error), String(error)])
      expect(text).not.toContain(KEY);
    expect(inspect(client, { depth: 9, showHidden: true })).not.toContain(KEY);
    expect(JSON.stringify(client)).not.toContain(KEY);
  });

  it.each(['pst_test_1\n', 'pst test', 'pst_tést', ''])('an unusable one: %j', async (apiKey) => {
    const made = () => new PetstoreClient({ baseUrl: 'http://127.0.0.1:1/v1', apiKey });
    expect(made).toThrow(/^apiKey must have visible ASCII characters only/);
    const { client, arrived } = await open([json(200, '[]')], { apiKey: () => apiKey });
    expect(await errorOf(all(client.pets.list()))).toBeInstanceOf(TypeError);
    expect(arrived).toEqual([]);
  });
});

describe('a client', () => {
  it.each([
    '',
    '/v1',
    'api.example/v1',
    'ftp://api.example/v1',
    'https://api.example',
    'https://api.example/v1/pets',
    'https://api.example/v1?a=1',
    'https://api.example/v1#a',
    'https://me:secret@api.example/v1',
  ])('is not made with the address %j', (baseUrl) => {
    const made = () => new PetstoreClient({ baseUrl, apiKey: KEY });
    expect(made).toThrow(TypeError);
    expect(made).not.toThrow(/secret/);
  });

  it.each([
    { timeoutMs: 0 },
    { timeoutMs: Number.NaN },
    { retry: { retries: -1 } },
    { retry: { retries: 1.5 } },
    { retry: { budgetMs: Number.NaN } },
    { int64: 'number' as 'string' },
    { apiKey: 5 as never },
  ])('is not made with %j', (options) => {
    expect(() => new PetstoreClient({ baseUrl: 'https://api.example/v1', apiKey: KEY, ...options })).toThrow(
      TypeError,
    );
  });

  it.each(['/v1', '/v1/', '/shop/petstore/v1'])(
    'finds self-service beside the version of %s',
    async (path) => {
      const server = await scriptedServer(json(200, '{}'));
      const client = new PetstoreClient({ baseUrl: server.url + path, apiKey: KEY });
      await client.account.get();
      await all(client.pets.list()).catch(() => undefined);
      const prefix = path.replace(/\/v1\/?$/, '');
      expect(server.arrived.map(({ url }) => url)).toEqual([`${prefix}/account`, `${prefix}/v1/pets`]);
    },
  );

  it.each(['', '.', '..', '\uD800'])(
    'asks for no other path than the one of the operation: %j',
    async (keyId) => {
      const { client, arrived } = await open([json(200, '{}')]);
      expect(await errorOf(client.account.keys.revoke(keyId))).toBeInstanceOf(TypeError);
      await client.account.keys.revoke('../../admin/x?y#z');
      expect(arrived.map(({ url }) => url)).toEqual(['/account/keys/..%2F..%2Fadmin%2Fx%3Fy%23z/revoke']);
    },
  );

  it('refuses an Idempotency-Key that cannot be sent, or that the operation does not take', async () => {
    const { client, arrived } = await open([json(201, pet('1'))]);
    for (const idempotencyKey of ['', 'a b', 'x'.repeat(256), 'é'])
      expect(await errorOf(client.pets.create(REX, { idempotencyKey }))).toBeInstanceOf(TypeError);
    expect(await errorOf(client.call('issueOwnKey', { body: {} }, { idempotencyKey: 'a' }))).toBeInstanceOf(
      TypeError,
    );
    expect(await errorOf(client.call('constructor' as 'getAccount'))).toBeInstanceOf(TypeError);
    expect(arrived).toEqual([]);
  });

  it('makes an Idempotency-Key also where there is no crypto, as on Node 18', async () => {
    const { client, arrived } = await open([json(201, pet('1'))]);
    vi.stubGlobal('crypto', undefined);
    onTestFinished(() => void vi.unstubAllGlobals());
    await client.pets.create(REX);
    await client.pets.create(REX);
    const keys = arrived.map(({ headers }) => headers['idempotency-key']);
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(keys).size).toBe(2);
  });

  it('refuses a body that JSON has no text for', async () => {
    const { client, arrived } = await open([json(201, '{}')]);
    const circle: Record<string, unknown> = { name: 'x' };
    circle['self'] = circle;
    for (const body of [circle, { name: 'x', categoryId: 1, weight: Number.NaN }])
      expect(await errorOf(client.call('createPet', { body: body as never }))).toBeInstanceOf(TypeError);
    expect(arrived).toEqual([]);
  });

  it('is a ConnectionError where nothing listens', async () => {
    const chances = new ControlledChances();
    const client = new PetstoreClient({ baseUrl: 'http://127.0.0.1:1/v1', apiKey: KEY, ...chances.options });
    const error = await errorOf(client.pets.create(REX));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ message: 'No answer to POST /v1/pets.' });
    expect((error as Error).cause).toBeInstanceOf(TypeError);
    expect(chances.waits).toHaveLength(5);
  });
});
