import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  InsufficientScopeError,
  type Page,
  type Pet,
  PetNotFoundError,
  PetstoreClient,
  RateLimitExceededError,
  RevokedApiKeyError,
  ScopeNotHeldError,
  ValidationFailedError,
} from '../../clients/typescript/src/index.js';
import { CONTROLLED, ControlledTime, all, errorOf } from '../support/scripted-client.js';
import { openForAll, openForTest } from '../support/opened.js';

const MOST = 2n ** 63n - 1n;
const service = await openForAll();
await service.seed(30);

const clientOf = (apiKey = service.key, at = service) =>
  new PetstoreClient({ baseUrl: `${at.url}/v1`, apiKey, retry: { retries: 0 } });

describe('the typed client, on the service', () => {
  it('lists all pages, of one status or of all', async () => {
    const client = clientOf();
    const pets = await all(client.pets.list({ limit: 7 }));
    expectTypeOf(pets).toEqualTypeOf<Pet[]>();
    expect(pets.map(({ id }) => id)).toEqual(Array.from({ length: 30 }, (_, at) => BigInt(at + 1)));
    const sold = await all(client.pets.list({ status: 'sold', limit: 2 }));
    expect(sold).toEqual(pets.filter(({ status }) => status === 'sold'));
    const pages: Page<Pet>[] = await all(client.pets.list({ limit: 20 }).pages());
    expect(pages.map(({ items }) => items.length)).toEqual([20, 10]);
    const rest = await all(client.pets.list({ limit: 20, cursor: pages[0]?.cursor ?? '' }));
    expect(rest).toEqual(pages[1]?.items);
  });

  it('adds and gets animals with exact numbers, in either form', async () => {
    const client = clientOf();
    const pet = await client.pets.create({ name: 'Żółw "7"', categoryId: MOST, status: 'pending' });
    expectTypeOf(pet).toEqualTypeOf<Pet>();
    expect(pet).toMatchObject({ name: 'Żółw "7"', categoryId: MOST, status: 'pending' });
    expect(await client.call('getPet', { path: { petId: pet.id } })).toEqual(pet);
    const texts = new PetstoreClient({ baseUrl: `${service.url}/v1/`, apiKey: service.key, int64: 'string' });
    const text = await texts.call('getPet', { path: { petId: String(pet.id) } });
    expectTypeOf(text).toEqualTypeOf<Pet<string>>();
    expect(text).toEqual({ ...pet, id: String(pet.id), categoryId: String(MOST) });
  });

  it('throws errors of their classes', async () => {
    const client = clientOf();
    const invalid = await errorOf(client.pets.create({ name: '', categoryId: 1, status: 'gone' as 'sold' }));
    expect(invalid).toBeInstanceOf(ValidationFailedError);
    expect(invalid).toMatchObject({
      status: 400,
      // Those of the fields that a class declares itself come before those that it inherits.
      details: [
        { field: 'status', code: 'not_allowed_value' },
        { field: 'name', code: 'blank' },
      ],
      requestId: expect.stringMatching(/^[\w-]+$/),
      help: `${service.url}/docs/errors#validation_failed`,
    });
    expect(await errorOf(client.call('getPet', { path: { petId: 0 } }))).toBeInstanceOf(PetNotFoundError);
    const { key: reading } = await service.issueKey({ scopes: ['pets:read'] });
    const refused = await errorOf(clientOf(reading).pets.create({ name: 'x', categoryId: 1 }));
    expect(refused).toBeInstanceOf(InsufficientScopeError);
  });

  it('knows its account and orders keys', async () => {
    const { key } = await service.issueKey({ scopes: ['account', 'pets:read'] });
    const client = clientOf(key);
    const issue = (...scopes: string[]) => client.call('issueOwnKey', { body: { scopes, label: 'Till' } });
    expect(await client.call('getAccount')).toMatchObject({
      client: { plan: 'business' },
      key: { bannedUntil: null },
    });
    const { id, key: secret } = await issue('pets:read');
    expect(await errorOf(issue('pets:write'))).toBeInstanceOf(ScopeNotHeldError);
    const keys = await all(client.list('listOwnKeys', { query: { limit: 1 } }));
    expect(keys.map((one) => one.id)).toContain(id);
    await client.call('rotateOwnKey', { path: { keyId: id }, body: { grace: '0' } });
    expect(await errorOf(all(clientOf(secret).pets.list()))).toBeInstanceOf(RevokedApiKeyError);
  });

  it('waits for the quota', async () => {
    const small = await openForTest({ plan: 'enterprise', limits: { perMinute: 2, perDay: 100 } });
    const time = new ControlledTime();
    const options = { baseUrl: `${small.url}/v1`, apiKey: small.key, ...CONTROLLED };
    const client = new PetstoreClient(options);
    await client.pets.create({ name: 'a', categoryId: 1 });
    await client.pets.create({ name: 'b', categoryId: 1 });
    expect(client.quota).toEqual({ limit: 2, remaining: 0, resetsAt: new Date('2026-11-20T12:01:00Z') });
    time.doWaitsPass = false;
    const waiting = client.pets.create({ name: 'c', categoryId: 1 });
    await expect.poll(() => time.waits).toEqual([50_500]);
    const other = new PetstoreClient({ ...options, retry: { retries: 0 } });
    expect(await errorOf(all(other.pets.list()))).toBeInstanceOf(RateLimitExceededError);
    expect((await client.call('getAccount')).key.bannedUntil).toBeNull();
    small.clock.advance(50_500);
    time.wake();
    expect(await waiting).toMatchObject({ name: 'c' });
    expect(client.quota?.remaining).toBe(1);
  });
});
