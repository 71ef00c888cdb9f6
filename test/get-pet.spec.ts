import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DemoData } from '../src/database/demo-data.js';
import { Metrics } from '../src/metrics/metrics.js';
import { Store } from './support/store.js';

let store: Store;
beforeAll(async () => {
  store = await Store.open();
  await store.app.get(DemoData).add();
});
afterAll(() => store.close());

describe('GET /v1/pets/{petId}', () => {
  it('answers the animal', async () => {
    const { status, text } = await store.request('GET', '/v1/pets/1');
    expect(status).toBe(200);
    expect(text).toBe('{"id":1,"name":"Biscuit","categoryId":1,"status":"available"}');
  });

  it.each(['0', '-1', '999999', '9223372036854775807', '-9223372036854775808', '9007199254740993'])(
    'answers 404 for %s, an int64 that no animal has',
    async (id) => {
      const { status, body } = await store.request('GET', `/v1/pets/${id}`);
      expect([status, body.code]).toEqual([404, 'pet_not_found']);
      expect(body.message).toContain(id);
    },
  );

  it.each([
    ['text', 'abc', 'not_an_integer'],
    ['a fraction', '1.0', 'not_an_integer'],
    ['an exponent', '1e0', 'not_an_integer'],
    ['a sign', '+1', 'not_an_integer'],
    ['a leading zero', '01', 'not_an_integer'],
    ['a space', '%201', 'not_an_integer'],
    ['NUL', '1%00', 'not_an_integer'],
    ['hexadecimal', '0x1', 'not_an_integer'],
    ['2⁶³', '9223372036854775808', 'out_of_range'],
    ['below −2⁶³', '-9223372036854775809', 'out_of_range'],
    ['many digits', '1'.repeat(3_000), 'out_of_range'],
  ])('answers 400 for %s, which is no int64', async (_, id, code) => {
    const { status, body } = await store.request('GET', `/v1/pets/${id}`);
    expect(status).toBe(400);
    expect(body.details).toEqual([{ field: 'petId', code, message: expect.any(String) }]);
  });
});

describe('the deprecation of getPet', () => {
  it.each([
    ['an answer', '/v1/pets/1', {}, 200],
    ['a 404', '/v1/pets/0', {}, 404],
    ['a 400', '/v1/pets/x', {}, 400],
    ['a 401', '/v1/pets/1', { key: null }, 401],
  ])('is told on %s', async (_, path, options, expected) => {
    const { status, headers } = await store.request('GET', path, options);
    expect(status).toBe(expected);
    expect(headers.get('deprecation')).toBe('@1795132800');
    expect(headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
    expect(headers.get('link')).toBe('</docs#/Pets/getPet>; rel="deprecation"; type="text/html"');
  });

  it('is not told on the other operations', async () => {
    const { headers } = await store.request('GET', '/v1/pets');
    expect(
      headers.has('deprecation') || headers.has('sunset') || /deprecation/.test(headers.get('link') ?? ''),
    ).toBe(false);
  });

  it('counts who still calls it', async () => {
    await store.request('GET', '/v1/pets/2');
    const { text } = await store.app.get(Metrics).exposition();
    expect(text).toMatch(
      new RegExp(
        `petstore_deprecated_requests_total\\{method="GET",route="/v1/pets/:petId",client="${store.clientId}"\\} \\d`,
      ),
    );
  });
});

describe('the removal of getPet', () => {
  it.each([
    ['the millisecond before', '2030-12-04T23:59:59.999Z', {}, 200],
    ['from the instant on', '2030-12-05T00:00:00.000Z', {}, 410],
    ['postponed', '2030-12-05T00:00:00.000Z', { SUNSET_NOT_BEFORE: '2031-06-01T00:00:00Z' }, 200],
    [
      'after the postponement',
      '2031-06-01T00:00:00.000Z',
      { SUNSET_NOT_BEFORE: '2031-06-01T00:00:00Z' },
      410,
    ],
    [
      'never before its own date',
      '2030-12-04T00:00:00.000Z',
      { SUNSET_NOT_BEFORE: '2027-01-01T00:00:00Z' },
      200,
    ],
  ])('%s', async (_, at, environment, expected) => {
    const later = await Store.open({ at, environment });
    await later.app.get(DemoData).add();
    const { status, body, headers } = await later.request('GET', '/v1/pets/1');
    expect(status).toBe(expected);
    if (expected === 410) expect(body.code).toBe('operation_removed');
    expect(headers.get('sunset')).toMatch(/GMT$/);
    expect((await later.request('GET', '/v1/pets')).status).toBe(200);
    await later.close();
  });
});
