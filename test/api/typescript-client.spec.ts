import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import {
  ExpiredApiKeyError,
  IdempotencyKeyReusedError,
  InsufficientScopeError,
  InvalidApiKeyError,
  type Page,
  type Pet,
  PetNotFoundError,
  PetstoreClient,
  RateLimitExceededError,
  RevokedApiKeyError,
  ScopeNotHeldError,
  ValidationFailedError,
} from '../../clients/typescript/src/index.js';
import { TestService } from '../kit/test-service.js';
import { ControlledChances } from '../support/controlled-chances.js';

const MOST = 2n ** 63n - 1n;
let service: TestService;
beforeAll(async () => {
  service = await TestService.open();
  await service.seed(30);
});
afterAll(() => service.close());

const clientOf = (apiKey = service.key, at = service) =>
  new PetstoreClient({ baseUrl: `${at.url}/v1`, apiKey, retry: { retries: 0 } });
const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );
const all = async <Entry>(entries: AsyncIterable<Entry>): Promise<Entry[]> => {
  const found: Entry[] = [];
  for await (const entry of entries) found.push(entry);
  return found;
};

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

  it('adds an animal once for each Idempotency-Key', async () => {
    const client = clientOf();
    const idempotencyKey = 'once';
    const [first, second] = [
      await client.pets.create({ name: 'Once', categoryId: 1 }, { idempotencyKey }),
      await client.pets.create({ name: 'Once', categoryId: 1 }, { idempotencyKey }),
    ];
    expect(second).toEqual(first);
    expect(
      await errorOf(client.pets.create({ name: 'Twice', categoryId: 1 }, { idempotencyKey })),
    ).toBeInstanceOf(IdempotencyKeyReusedError);
  });

  it('throws refusals of their classes', async () => {
    const client = clientOf();
    const invalid = await errorOf(client.pets.create({ name: '', categoryId: 1, status: 'gone' as 'sold' }));
    expect(invalid).toBeInstanceOf(ValidationFailedError);
    expect(invalid).toMatchObject({
      status: 400,
      details: [{ field: 'name' }, { field: 'status', code: 'not_allowed_value' }],
      requestId: expect.stringMatching(/^[\w-]+$/),
      help: `${service.url}/docs/errors#validation_failed`,
    });
    expect(await errorOf(client.call('getPet', { path: { petId: 0 } }))).toBeInstanceOf(PetNotFoundError);
    expect(await errorOf(all(clientOf('nonsense').pets.list()))).toBeInstanceOf(InvalidApiKeyError);
    const { key: reading } = await service.issueKey({ scopes: ['pets:read'] });
    expect(await errorOf(clientOf(reading).pets.create({ name: 'x', categoryId: 1 }))).toBeInstanceOf(
      InsufficientScopeError,
    );
    const { key: ending } = await service.issueKey({ expires: 1_000 });
    service.clock.advance(2_000);
    expect(await errorOf(all(clientOf(ending).pets.list()))).toBeInstanceOf(ExpiredApiKeyError);
  });

  it('knows its account and orders keys', async () => {
    const { key } = await service.issueKey({ scopes: ['account', 'pets:read'] });
    const { account } = clientOf(key);
    expect(await account.get()).toMatchObject({ client: { plan: 'business' }, key: { bannedUntil: null } });
    expect((await account.usage({ days: 2 })).days).toHaveLength(2);
    const { id, key: secret } = await account.keys.issue({ scopes: ['pets:read'], label: 'Till' });
    expect(await errorOf(account.keys.issue({ scopes: ['pets:write'] }))).toBeInstanceOf(ScopeNotHeldError);
    expect(await account.keys.update(id, { label: 'Door' })).toMatchObject({ label: 'Door' });
    expect((await all(account.keys.list({ limit: 1 }))).map((one) => one.id)).toContain(id);
    const { id: successor } = await account.keys.rotate(id, { grace: '0' });
    expect(await account.keys.get(id)).toMatchObject({ replacedBy: successor });
    expect(await errorOf(all(clientOf(secret).pets.list()))).toBeInstanceOf(RevokedApiKeyError);
    expect((await account.keys.revoke(successor)).revokedAt).not.toBeNull();
  });

  it('waits for the quota, and sends nothing meanwhile', async () => {
    const small = await TestService.open({ plan: 'enterprise', limits: { perMinute: 2, perDay: 100 } });
    try {
      const chances = new ControlledChances();
      const client = new PetstoreClient({
        baseUrl: `${small.url}/v1`,
        apiKey: small.key,
        ...chances.options,
      });
      await client.pets.create({ name: 'a', categoryId: 1 });
      await client.pets.create({ name: 'b', categoryId: 1 });
      expect(client.quota).toEqual({ limit: 2, remaining: 0, resetsAt: new Date('2026-11-20T12:01:00Z') });
      chances.doWaitsPass = false;
      const waiting = client.pets.create({ name: 'c', categoryId: 1 });
      await expect.poll(() => chances.waits).toEqual([50_500]);
      const held = errorOf(
        all(
          new PetstoreClient({
            baseUrl: `${small.url}/v1`,
            apiKey: small.key,
            retry: { retries: 0 },
          }).pets.list(),
        ),
      );
      expect(await held).toBeInstanceOf(RateLimitExceededError);
      expect((await client.account.get()).key.bannedUntil).toBeNull();
      small.clock.advance(50_500);
      chances.wake();
      expect(await waiting).toMatchObject({ name: 'c' });
      expect(client.quota?.remaining).toBe(1);
    } finally {
      await small.close();
    }
  });
});
