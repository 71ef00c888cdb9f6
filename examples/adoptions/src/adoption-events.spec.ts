import { Pet } from 'petstore-service/pets';
import { TestService, defineFixture } from 'petstore-service/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AdoptionLetter } from './adoption-letter.entity.js';
import { AdoptionMail } from './adoption-mail.js';
import { ADOPTION_REQUESTED } from './adoptions.events.js';
import { AdoptionsModule } from './adoptions.module.js';

const PET = defineFixture(Pet, (number) => ({ name: `Pet ${number}`, categoryId: 1n, status: 'available' }));

let service: TestService;
beforeEach(async () => {
  service = await TestService.open({ modules: [AdoptionsModule] });
});
afterEach(() => service.close());

const letters = () => service.repository(AdoptionLetter).find();
const request = (petId: bigint, adopterName = 'Ada') =>
  service.request('POST', '/v1/adoptions', { json: { petId: Number(petId), adopterName } });
const decide = (id: number, state: string, headers: Record<string, string> = {}) =>
  service.request('PATCH', `/v1/adoptions/${id}`, {
    json: { state },
    headers: { 'if-match': '*', ...headers },
  });

describe('adoption.requested', () => {
  it('is published once the animal is reserved, and never when it is refused', async () => {
    const published = service.collect(ADOPTION_REQUESTED);
    const { id: petId } = await service.add(PET);
    const { body } = await request(petId);
    await request(petId);
    await service.settled();
    expect(published).toEqual([{ id: BigInt(body.id), petId }]);
  });
});

describe('adoption.approved', () => {
  it('writes one letter, no matter how often it is approved or delivered', async () => {
    const { id: petId } = await service.add(PET);
    const { body } = await request(petId, 'Grace');
    for (const _ of [1, 2]) await decide(body.id, 'approved', { 'idempotency-key': 'approve-1' });
    await decide(body.id, 'approved');
    await service.settled();
    const [letter, ...others] = await letters();
    expect(others).toEqual([]);
    expect(letter?.text).toBe(`Dear Grace, the animal ${petId} is yours.`);
    const { deliveryId: id = 0n, adoptionId = 0n } = letter ?? {};
    const delivery = { id, failures: 1, publishedAt: '', signal: AbortSignal.timeout(60_000) };
    const approved = { id: adoptionId, petId: 1n, adopterName: 'Ada' };
    await service.app.get(AdoptionMail, { strict: false }).write(approved, delivery);
    expect(await letters()).toEqual([letter]);
  });
});

describe('metrics', () => {
  it('count the adoptions that reached a state and those that are open', async () => {
    const shown = async () => ({
      open: await service.metric('petstore_adoptions_open'),
      requested: await service.metric('petstore_adoptions_total', { state: 'requested' }),
      approved: await service.metric('petstore_adoptions_total', { state: 'approved' }),
    });
    const [{ id: one }, { id: other }] = [await service.add(PET), await service.add(PET)];
    const { body } = await request(one);
    await request(one);
    await request(other);
    expect(await shown()).toEqual({ open: 2, requested: 2, approved: 0 });
    await decide(body.id, 'approved');
    await decide(body.id, 'declined');
    expect(await shown()).toEqual({ open: 1, requested: 2, approved: 1 });
  });
});

describe('demo data', () => {
  const STATES = { pending: 'requested', sold: 'approved', available: 'declined' } as const;

  it('agrees with the animals, also when there is more of it', async () => {
    for (const count of [undefined, 200]) {
      await service.seed(count);
      const adoptions = await service.everyPage('/v1/adoptions');
      const pets = new Map(
        (await service.everyPage('/v1/pets?limit=100')).map(({ id, status }) => [id, status]),
      );
      expect(adoptions.length).toBeGreaterThanOrEqual(12);
      expect(new Set(adoptions.map(({ petId }) => petId)).size).toBe(adoptions.length);
      for (const { petId, state } of adoptions)
        expect(state).toBe(STATES[pets.get(petId) as keyof typeof STATES]);
    }
  });
});
