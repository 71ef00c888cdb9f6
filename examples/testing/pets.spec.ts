import { PET_CREATED, Pet } from 'petstore-service/pets';
import { TestService, defineFixture } from 'petstore-service/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';

const PET = defineFixture(Pet, (number) => ({ name: `Pet ${number}`, categoryId: 1n, status: 'available' }));

let service: TestService;
beforeAll(async () => {
  service = await TestService.open({ plan: 'free', at: '2026-12-24T18:00:00Z' });
});
afterAll(() => service.close());

it('lists all animals, page by page', async () => {
  for (let added = 0; added < 5; added += 1) await service.add(PET);
  const pets = await service.everyPage('/v1/pets?limit=2');
  expect(pets.map(({ name }) => name)).toEqual(['Pet 1', 'Pet 2', 'Pet 3', 'Pet 4', 'Pet 5']);
});

it('publishes an event for a new animal', async () => {
  const published = service.collect(PET_CREATED);
  await service.request('POST', '/v1/pets', { json: { name: 'Biscuit', categoryId: 1 } });
  await service.settled();
  expect(published).toMatchObject([{ name: 'Biscuit' }]);
});

it('refuses the 61st request of a minute, and admits one in the next', async () => {
  const { key } = await service.issueKey({ plan: 'free' });
  for (let sent = 0; sent < 60; sent += 1) await service.request('GET', '/v1/pets', { key });
  const refused = await service.request('GET', '/v1/pets', { key });
  expect([refused.status, refused.body.code]).toEqual([429, 'rate_limit_exceeded']);
  expect(await service.metric('petstore_quota_verdicts_total', { plan: 'free', verdict: 'refused' })).toBe(1);
  service.clock.advance(60_000);
  expect((await service.request('GET', '/v1/pets', { key })).status).toBe(200);
});
