import { Pet } from 'petstore-service/pets';
import { TestService, defineFixture } from 'petstore-service/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdoptionTransitions } from './adoption-transitions.js';
import { Adoption } from './adoption.entity.js';
import { AdoptionsModule } from './adoptions.module.js';

const PET = defineFixture(Pet, (number) => ({ name: `Pet ${number}`, categoryId: 1n, status: 'available' }));
const LIMITS = { perMinute: 1_000_000, perDay: 1_000_000 };

// In a file, as in production, where reads do not wait for the writer.
let service: TestService;
beforeAll(async () => {
  const modules = [AdoptionsModule];
  service = await TestService.open({ modules, database: 'file', plan: 'enterprise', limits: LIMITS });
});
afterAll(() => service.close());

const request = (petId: number, headers = {}) =>
  service.request('POST', '/v1/adoptions', { json: { petId, adopterName: 'Ada' }, headers });
const statusOf = async (petId: number) => (await service.request('GET', `/v1/pets/${petId}`)).body.status;

/** The number of occurrences of each value. */
function counted(values: readonly unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1;
  return counts;
}

describe('at the same time', () => {
  it.each([
    ['without a key', () => ({})],
    ['each with a key of its own', (at: number, pet: bigint) => ({ 'idempotency-key': `wish-${pet}-${at}` })],
  ])('fifty request one animal, %s: one gets it', async (_, headersOf) => {
    const { id } = await service.add(PET);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (__, at) => request(Number(id), headersOf(at, id))),
    );
    expect(counted(answers.map(({ status, body }) => `${status} ${body.code ?? body.state}`))).toEqual({
      '201 requested': 1,
      '409 pet_not_available': 49,
    });
    expect(await service.repository(Adoption).countBy({ petId: id })).toBe(1);
    expect(await statusOf(Number(id))).toBe('pending');
  });
});

it('a decision is not replaced by that of another transaction, which has read the adoption before', async () => {
  const { id } = await service.add(PET);
  const path = `/v1/adoptions/${(await request(Number(id))).body.id}`;
  const open = await service.repository(Adoption).findOneByOrFail({ petId: id });
  const headers = { 'if-match': '*' };
  await service.request('PATCH', path, { json: { state: 'approved' }, headers });
  const expired = service.app.get(AdoptionTransitions, { strict: false }).decide(open, 'expired');
  await expect(expired).rejects.toThrow(/is approved, which is final/);
  expect((await service.request('GET', path)).body.state).toBe('approved');
});

it('the database refuses a second open adoption of an animal', async () => {
  const { id } = await service.add(PET);
  await request(Number(id));
  // Another part of the service has released the animal.
  await service.repository(Pet).update({ id }, { status: 'available' });
  const { status, body } = await request(Number(id));
  expect([status, body.code]).toEqual([409, 'already_exists']);
  expect(await statusOf(Number(id))).toBe('available');
});
