import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UNLIMITED, openForAll } from '../support/opened.js';

const service = await openForAll(UNLIMITED);

/** Field names that trip JavaScript up, alongside the real ones. */
const field = fc.oneof(
  fc.constantFrom(
    'name',
    'categoryId',
    'status',
    'id',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'valueOf',
    'then',
    '',
  ),
  fc.string(),
);
const body = fc.dictionary(field, fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true });

describe('for any input', () => {
  it('a JSON body gets 201 or 400, and is stored only if it is a NewPet', async () => {
    await fc.assert(
      fc.asyncProperty(body, async (json) => {
        const { status } = await service.request('POST', '/v1/pets', { json });
        const {
          name,
          categoryId,
          status: availability = 'available',
          ...rest
        } = json as Record<string, unknown>;
        const isNewPet =
          typeof name === 'string' &&
          /[^\s\p{Cc}\p{Cf}]/u.test(name) &&
          Array.from(name).length <= 255 &&
          !name.includes('\0') &&
          name.isWellFormed() &&
          Number.isSafeInteger(categoryId) &&
          ['available', 'pending', 'sold'].includes(availability as string) &&
          Object.keys(rest).length === 0;
        expect(status).toBe(isNewPet ? 201 : 400);
      }),
      { numRuns: 100 },
    );
  });

  it('any text as a body gets 4xx or 201', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json(), fc.string({ unit: 'binary' })), async (text) => {
        const { status } = await service.request('POST', '/v1/pets', { json: text });
        expect([201, 400]).toContain(status);
      }),
      { numRuns: 100 },
    );
  });

  it('any path and query gets 200 or 4xx', async () => {
    const target = fc.oneof(
      fc.webPath().map((path) => `/v1/pets${path}`),
      fc.webQueryParameters().map((query) => `/v1/pets?${query}`),
      fc.string().map((text) => `/v1/pets/${encodeURIComponent(text.toWellFormed())}`),
      fc.stringMatching(/^[!-~]{0,40}$/).map((text) => `/v1/pets?limit=${text}`),
    );
    await fc.assert(
      fc.asyncProperty(target, fc.constantFrom('GET', 'HEAD', 'DELETE', 'OPTIONS'), async (path, method) => {
        const { status } = await service.request(method, path);
        expect(
          status === 200 || status === 204 || (status >= 400 && status < 500),
          `${method} ${path} → ${status}`,
        ).toBe(true);
      }),
      {
        numRuns: 100,
        examples: [
          ['/v1/pets/.', 'GET'],
          ['/v1/pets/1/..', 'GET'],
        ],
      },
    );
  });

  it('any Authorization header gets 401 or 429', async () => {
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[ -~]{0,80}$/), async (authorization) => {
        service.clock.advance(1_000);
        const { status } = await service.request('GET', '/v1/pets', {
          key: null,
          headers: { authorization },
        });
        expect([401, 429]).toContain(status);
      }),
      { numRuns: 100 },
    );
  });
});

describe('what a refusal repeats is bounded', () => {
  it.each([
    [
      'unknown members',
      JSON.stringify(Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`x${at}`, 1]))),
    ],
    ['a long member', JSON.stringify({ name: 'a', categoryId: 1, ['n'.repeat(90_000)]: 1 })],
    ['a long member named twice', `{"${'n'.repeat(40_000)}":1,"${'n'.repeat(40_000)}":1}`],
  ])('for %s', async (_, json) => {
    const { status, text, body: refusal } = await service.request('POST', '/v1/pets', { json });
    expect(status).toBe(400);
    expect(text.length).toBeLessThan(6_000);
    expect(refusal.details?.length ?? 0).toBeLessThanOrEqual(20);
  });

  it('for a scope that does not exist', async () => {
    const { key } = await service.issueKey({ scopes: ['admin'] });
    const json = { clientId: service.clientId, scopes: ['n'.repeat(90_000)] };
    const { status, text } = await service.request('POST', '/admin/keys', { key, json });
    expect([status, text.length < 2_000]).toEqual([400, true]);
  });

  it('and says how many errors it omits', async () => {
    const members = Array.from({ length: 53 }, (_, at) => [`x${at}`, 1]);
    const { body: refusal } = await service.request('POST', '/v1/pets', {
      json: Object.fromEntries(members),
    });
    expect(refusal.details).toHaveLength(20);
    expect(refusal.details.at(-1)).toEqual({
      field: '',
      code: 'more_faults',
      message: 'There are 36 more errors.',
    });
  });
});

describe('a field of 15 KiB is read in a moment', () => {
  it.each([
    ['Accept', 'accept', 'a/b;q=0,', 406],
    ['Accept without a comma', 'accept', 'application/json;q="', 200],
    ['If-None-Match', 'if-none-match', '"a",', 200],
    ['If-None-Match without an end', 'if-none-match', '"', 200],
  ])('%s', async (_, name, part, expected) => {
    const value = part.repeat(15_000 / part.length);
    // Processor time, because other processes may use the machine as well.
    const start = process.cpuUsage();
    const { status } = await service.request('GET', '/v1/pets', { headers: { [name]: value } });
    expect([status, process.cpuUsage(start).user < 1_000_000]).toEqual([expected, true]);
  });
});
