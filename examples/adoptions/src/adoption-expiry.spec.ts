import { Jobs } from 'petstore-service';
import { Pet } from 'petstore-service/pets';
import { TestService, defineFixture } from 'petstore-service/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AdoptionsModule } from './adoptions.module.js';

const RESERVATION_MS = 600_000;
const PET = defineFixture(Pet, (number) => ({ name: `Pet ${number}`, categoryId: 1n, status: 'available' }));

let service: TestService;
beforeEach(async () => {
  service = await TestService.open({
    modules: [AdoptionsModule],
    environment: { ADOPTIONS_RESERVATION_MS: String(RESERVATION_MS) },
  });
});
afterEach(() => service.close());

/** Requests an adoption of a new animal. Returns the paths of the adoption and the animal. */
async function open() {
  const { id } = await service.add(PET);
  const json = { petId: Number(id), adopterName: 'Ada' };
  const { body } = await service.request('POST', '/v1/adoptions', { json });
  return { pet: `/v1/pets/${id}`, adoption: `/v1/adoptions/${body.id}` };
}

const get = async (path: string) => (await service.request('GET', path)).body;
const expire = () => service.app.get(Jobs).run('adoptions.expire');

describe('an adoption that nobody decides', () => {
  it('expires when the reservation is over, and not a millisecond before', async () => {
    const { pet, adoption } = await open();
    service.clock.advance(RESERVATION_MS);
    await expire();
    expect(await get(adoption)).toMatchObject({ state: 'requested' });
    service.clock.advance(1);
    await expire();
    const decidedAt = new Date(service.clock.now()).toISOString();
    expect(await get(adoption)).toMatchObject({ state: 'expired', decidedAt });
    expect(await get(pet)).toMatchObject({ status: 'available' });
  });

  it('expires also when something else has released or sold its animal', async () => {
    const [gone, sold] = [await open(), await open()];
    const pets = service.repository(Pet);
    await pets.update({ id: BigInt(gone.pet.split('/').at(-1) ?? '') }, { status: 'available' });
    await pets.update({ id: BigInt(sold.pet.split('/').at(-1) ?? '') }, { status: 'sold' });
    service.clock.advance(RESERVATION_MS + 1);
    await expire();
    for (const { adoption } of [gone, sold]) expect(await get(adoption)).toMatchObject({ state: 'expired' });
    expect([(await get(gone.pet)).status, (await get(sold.pet)).status]).toEqual(['available', 'sold']);
  });
});
