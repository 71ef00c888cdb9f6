import createClient from 'openapi-fetch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DemoData } from '../../src/database/demo-data.js';
import type { components, paths } from '../support/openapi-types.js';
import { TestService } from '../kit/test-service.js';

let service: TestService;
beforeAll(async () => {
  service = await TestService.open();
  await service.app.get(DemoData).add();
});
afterAll(() => service.close());

/** A client as a consumer makes it: types from docs/openapi.json by openapi-typescript, calls by openapi-fetch. */
const client = (key = service.key) =>
  createClient<paths>({ baseUrl: `${service.url}/v1`, headers: { Authorization: `Bearer ${key}` } });

describe('a client generated from the document', () => {
  it('lists', async () => {
    const { data, response } = await client().GET('/pets', {
      params: { query: { limit: 3, status: 'sold' } },
    });
    const pets: components['schemas']['Pet'][] = data ?? [];
    expect(pets.map(({ name, status }) => [name, status])).toEqual([
      ['Rufus', 'sold'],
      ['Pepper', 'sold'],
      ['Smudge', 'sold'],
    ]);
    expect(response.headers.get('X-RateLimit-Limit')).toBe('1000');
  });

  it('creates, then gets', async () => {
    const { data: created } = await client().POST('/pets', {
      body: { name: 'Typed', categoryId: 3, status: 'pending' },
    });
    const { data: fetched } = await client().GET('/pets/{petId}', {
      params: { path: { petId: created?.id ?? 0 } },
    });
    expect(fetched).toEqual({ id: created?.id, name: 'Typed', categoryId: 3, status: 'pending' });
  });

  it('gets a typed refusal', async () => {
    const missing = await client().GET('/pets/{petId}', { params: { path: { petId: 0 } } });
    const error: components['schemas']['Error'] | undefined = missing.error;
    expect(error).toMatchObject({ code: 'pet_not_found', status: 404 });
    const { error: unauthorized } = await client('nonsense').GET('/pets');
    expect(unauthorized?.code).toBe('invalid_api_key');
  });
});
