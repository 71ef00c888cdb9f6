import { describe, expect, it } from 'vitest';
import { UNLIMITED, openForAll } from '../../support/opened.js';

const service = await openForAll(UNLIMITED);
await service.seed(150);

describe('GET /v1/pets', () => {
  it.each([
    ['with an unknown parameter, which is ignored', '?limit=7&platform_test=red', 7],
    ['behind a thousand unknown parameters', `?${'a&'.repeat(1_500)}limit=3`, 3],
  ])('limits the page: %s', async (_, query, length) => {
    const { status, body } = await service.request('GET', `/v1/pets${query}`);
    expect(status).toBe(200);
    expect(body).toHaveLength(length);
  });

  it.each(['available', 'sold'])('returns only animals that are %s', async (status) => {
    const { body } = await service.request('GET', `/v1/pets?status=${status}&limit=100`);
    expect(body.length).toBeGreaterThan(5);
    expect(new Set(body.map((pet: { status: string }) => pet.status))).toEqual(new Set([status]));
  });

  it.each([
    ['huge', `limit=${'9'.repeat(400)}`, 'limit', 'out_of_range'],
    ['repeated', 'limit=1&limit=1', 'limit', 'not_an_integer'],
    ['padded with a zero', 'limit=05', 'limit', 'not_an_integer'],
    ['broken percent-encoding', 'limit=%zz', 'limit', 'not_an_integer'],
    ['a repeated status', 'status=sold&status=sold', 'status', 'not_allowed_value'],
    ['a status in brackets', 'status[]=sold', 'status[]', 'misspelled_parameter'],
    ['a limit beside its capitals', 'limit=5&Limit=6', 'Limit', 'misspelled_parameter'],
  ])('refuses a value that is %s', async (_, query, field, code) => {
    const { status, body } = await service.request('GET', `/v1/pets?${query}`);
    expect(status).toBe(400);
    expect(body.code).toBe('validation_failed');
    expect(body.details).toEqual([{ field, code, message: expect.any(String) }]);
  });

  it('names the spelling that a misspelled parameter has', async () => {
    const { body } = await service.request('GET', '/v1/pets?Status[]=sold');
    expect(body.details[0].message).toBe('This parameter is misspelled; write status.');
  });

  it('responds to HEAD as to GET, without the body', async () => {
    const get = await service.request('GET', '/v1/pets?limit=2');
    const head = await service.request('HEAD', '/v1/pets?limit=2');
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    expect(head.headers.get('content-length')).toBe(String(get.text.length));
  });

  it('reads no body of a GET', async () => {
    const { status } = await service.request('GET', '/v1/pets', {
      headers: { 'content-type': 'text/plain' },
    });
    expect(status).toBe(200);
  });
});
