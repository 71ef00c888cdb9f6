import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from './support/store.js';

let store: Store;
beforeAll(async () => {
  store = await Store.open({ plan: 'enterprise', limits: { perMinute: 1_000_000, perDay: 1_000_000 } });
});
afterAll(() => store.close());

/** Field names that trip JavaScript up, beside the real ones. */
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

describe('whatever is sent', () => {
  it('a JSON body is answered with 201 or 400, and stored only if it is a NewPet', async () => {
    await fc.assert(
      fc.asyncProperty(body, async (json) => {
        const { status } = await store.request('POST', '/v1/pets', { json });
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
      { numRuns: 300 },
    );
  });

  it('any text as a body is answered with 4xx or 201', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json(), fc.string({ unit: 'binary' })), async (text) => {
        const { status } = await store.request('POST', '/v1/pets', { json: text });
        expect([201, 400]).toContain(status);
      }),
      { numRuns: 200 },
    );
  });

  it('any path and query is answered with 200 or 4xx', async () => {
    const target = fc.oneof(
      fc.webPath().map((path) => `/v1/pets${path}`),
      fc.webQueryParameters().map((query) => `/v1/pets?${query}`),
      fc.string().map((text) => `/v1/pets/${encodeURIComponent(text.toWellFormed())}`),
      fc.stringMatching(/^[!-~]{0,40}$/).map((text) => `/v1/pets?limit=${text}`),
    );
    await fc.assert(
      fc.asyncProperty(target, fc.constantFrom('GET', 'HEAD', 'DELETE', 'OPTIONS'), async (path, method) => {
        const { status } = await store.request(method, path);
        expect(
          status === 200 || status === 204 || (status >= 400 && status < 500),
          `${method} ${path} → ${status}`,
        ).toBe(true);
      }),
      {
        numRuns: 400,
        examples: [
          ['/v1/pets/.', 'GET'],
          ['/v1/pets/1/..', 'GET'],
        ],
      },
    );
  });

  it('any Authorization header is answered with 401 or 429', async () => {
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[ -~]{0,80}$/), async (authorization) => {
        store.clock.advance(1_000);
        const { status } = await store.request('GET', '/v1/pets', { key: null, headers: { authorization } });
        expect([401, 429]).toContain(status);
      }),
      { numRuns: 200 },
    );
  });
});
