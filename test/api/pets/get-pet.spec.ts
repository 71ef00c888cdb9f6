import { describe, expect, it } from 'vitest';
import { Metrics } from '../../../src/core/metrics/metrics.js';
import { openForAll, openForTest } from '../../support/opened.js';

const service = await openForAll();
await service.seed();

describe('GET /v1/pets/{petId}', () => {
  it('returns the animal', async () => {
    const { status, text } = await service.request('GET', '/v1/pets/1');
    expect(status).toBe(200);
    expect(text).toBe('{"id":1,"name":"Biscuit","categoryId":1,"status":"available"}');
  });

  it.each(['0', '-1', '999999', '9223372036854775807', '-9223372036854775808', '9007199254740993'])(
    'returns 404 for %s, an int64 that no animal has',
    async (id) => {
      const { status, body } = await service.request('GET', `/v1/pets/${id}`);
      expect([status, body.code]).toEqual([404, 'pet_not_found']);
      expect(body.message).toContain(id);
    },
  );

  it.each([
    ['text', 'abc', 'not_an_integer'],
    ['a fraction', '1.0', 'not_an_integer'],
    ['a sign', '+1', 'not_an_integer'],
    ['2⁶³', '9223372036854775808', 'out_of_range'],
    ['below −2⁶³', '-9223372036854775809', 'out_of_range'],
    ['many digits', '1'.repeat(3_000), 'out_of_range'],
  ])('returns 400 for %s, which is not an int64', async (_, id, code) => {
    const { status, body } = await service.request('GET', `/v1/pets/${id}`);
    expect(status).toBe(400);
    expect(body.details).toEqual([{ field: 'petId', code, message: expect.any(String) }]);
  });

  it.each(['%', '%zz', '%ff', '%c3%28', '%ed%a0%80'])(
    'returns 400 for %j, which cannot be decoded',
    async (id) => {
      const { status, body } = await service.request('GET', `/v1/pets/${id}`);
      expect([status, body.code]).toEqual([400, 'malformed_request']);
    },
  );
});

describe('the deprecation of getPet', () => {
  it.each([
    ['an answer', '/v1/pets/1', {}, 200],
    ['a 404', '/v1/pets/0', {}, 404],
    ['a 400', '/v1/pets/x', {}, 400],
    ['a 401', '/v1/pets/1', { key: null }, 401],
  ])('is announced on %s', async (_, path, options, expected) => {
    const { status, headers } = await service.request('GET', path, options);
    expect(status).toBe(expected);
    expect(headers.get('deprecation')).toBe('@1795132800');
    expect(headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
    // A refusal has the link to what explains it behind this one (test/api/help-links.spec.ts).
    const [link, help] = headers.get('link')?.split(', ') ?? [];
    expect(link).toBe('</docs#/Pets/getPet>; rel="deprecation"; type="text/html"');
    expect(help === undefined).toBe(expected < 400);
  });

  it('is not announced on the other operations', async () => {
    const { headers } = await service.request('GET', '/v1/pets');
    expect(
      headers.has('deprecation') || headers.has('sunset') || /deprecation/.test(headers.get('link') ?? ''),
    ).toBe(false);
  });

  it('counts its calls, in a metric that does not grow with the clients', async () => {
    await service.request('GET', '/v1/pets/2');
    const { key } = await service.issueKey({ plan: 'free' });
    await service.request('GET', '/v1/pets/2', { key });
    const { text } = await service.app.get(Metrics).exposition();
    expect(text.match(/^petstore_deprecated_requests_total\{.*$/gm)).toEqual([
      expect.stringMatching(
        /^petstore_deprecated_requests_total\{method="GET",route="\/v1\/pets\/:petId"\} \d+$/,
      ),
    ]);
  });
});

describe('the removal of getPet', () => {
  const POSTPONED = { SUNSET_NOT_BEFORE: '2031-06-01T00:00:00Z' };

  it.each([
    ['the millisecond before', '2030-12-04T23:59:59.999Z', {}, 200],
    ['postponed', '2030-12-05T00:00:00.000Z', POSTPONED, 200],
    ['after the postponement', '2031-06-01T00:00:00.000Z', POSTPONED, 410],
    [
      'never before its own date',
      '2030-12-04T00:00:00.000Z',
      { SUNSET_NOT_BEFORE: '2027-01-01T00:00:00Z' },
      200,
    ],
  ])('%s', async (_, at, environment, expected) => {
    const later = await openForTest({ at, environment });
    await later.seed();
    const { status, body, headers } = await later.request('GET', '/v1/pets/1');
    expect(status).toBe(expected);
    if (expected === 410) expect(body.code).toBe('operation_removed');
    expect(headers.get('sunset')).toMatch(/GMT$/);
    expect((await later.request('GET', '/v1/pets')).status).toBe(200);
    const allowed = expected === 410 ? 'OPTIONS' : 'GET, HEAD, OPTIONS';
    expect((await later.request('OPTIONS', '/v1/pets/1')).headers.get('allow')).toBe(allowed);
    if (environment === POSTPONED && expected === 200) {
      const operation = later.document.paths['/pets/{petId}']?.get as unknown as Record<string, unknown>;
      expect(operation).toMatchObject({ 'x-sunset': '2031-06-01T00:00:00.000Z' });
      expect(operation).not.toHaveProperty('x-removed');
      expect(operation['description']).toContain('it will be removed on 1 June 2031');
    }
  });
});

describe('after its removal getPet', async () => {
  const later = await openForAll({ at: '2030-12-05T00:00:00.000Z' });
  await later.seed();

  it('returns 410, and names the replacement', async () => {
    expect((await later.request('HEAD', '/v1/pets/1')).status).toBe(410);
    const { status, body } = await later.request('GET', '/v1/pets/1');
    expect([status, body.message]).toEqual([
      410,
      'This operation was removed on 2030-12-05; use GET /v1/pets?status=available instead.',
    ]);
  });

  it('is no method of its path, which has no other', async () => {
    const options = await later.request('OPTIONS', '/v1/pets/1');
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'OPTIONS']);
    const wrong = await later.request('PUT', '/v1/pets/1', { json: {} });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'OPTIONS']);
    expect((await later.request('OPTIONS', '/v1/pets')).headers.get('allow')).toBe(
      'GET, HEAD, OPTIONS, POST',
    );
    expect((await later.request('OPTIONS', '/v1/nothing')).status).toBe(404);
  });

  it('is marked in the document', () => {
    const operation = later.document.paths['/pets/{petId}']?.get as unknown as Record<string, unknown>;
    expect(operation).toMatchObject({
      deprecated: true,
      'x-sunset': '2030-12-05T00:00:00.000Z',
      'x-removed': true,
      description: expect.stringContaining(
        'Removed on 5 December 2030. Every request returns 410 `operation_removed`. Use `GET /v1/pets?status=available` instead.',
      ),
    });
  });

  it('was a method of its path until then', async () => {
    later.clock.set('2030-12-04T23:59:59.999Z');
    expect((await later.request('OPTIONS', '/v1/pets/1')).headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });
});
