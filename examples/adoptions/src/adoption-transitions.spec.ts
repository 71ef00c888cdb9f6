import fc from 'fast-check';
import { Pet } from 'petstore-service/pets';
import { TestService, defineFixture } from 'petstore-service/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADOPTION_STATES, type AdoptionState, STATUS_OF_PET } from './adoption-states.js';
import { Adoption } from './adoption.entity.js';
import { AdoptionsModule } from './adoptions.module.js';

const PET = defineFixture(Pet, (number) => ({
  name: `Pet ${number}`,
  categoryId: 1n,
  status: 'available',
}));
const LIMITS = { perMinute: 1_000_000, perDay: 1_000_000 };

// On a file, as in production: there readers stand beside the writer.
let service: TestService;
beforeAll(async () => {
  const modules = [AdoptionsModule];
  service = await TestService.open({ modules, database: 'file', plan: 'enterprise', limits: LIMITS });
});
afterAll(() => service.close());

const request = (petId: number, headers = {}) =>
  service.request('POST', '/v1/adoptions', { json: { petId, adopterName: 'Ada' }, headers });
const decide = (path: string, state: AdoptionState, etag = '*') =>
  service.request('PATCH', path, { json: { state }, headers: { 'if-match': etag } });
const statusOf = async (petId: number) => (await service.request('GET', `/v1/pets/${petId}`)).body.status;

/** How many there are of each. */
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

  it('twenty decide one adoption that all have seen: one does, the others have not seen that', async () => {
    const { id } = await service.add(PET);
    const { headers, body } = await request(Number(id));
    const path = `/v1/adoptions/${body.id}`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        decide(path, at % 2 === 0 ? 'approved' : 'declined', headers.get('etag') ?? ''),
      ),
    );
    expect(counted(answers.map(({ status }) => status))).toEqual({ 200: 1, 412: 19 });
    const { state } = (await service.request('GET', path)).body as { state: AdoptionState };
    expect(await statusOf(Number(id))).toBe(STATUS_OF_PET[state]);
  });
});

/** What an adoption is, as the model has it. */
interface Known {
  readonly pet: number;
  state: AdoptionState | 'deleted';
}

/** One step: on an animal (request), or on one of the adoptions so far (the others). */
type Step =
  | { readonly does: 'request'; readonly pet: number }
  | { readonly does: 'decide'; readonly adoption: number; readonly next: AdoptionState }
  | { readonly does: 'delete'; readonly adoption: number };

const PETS = 3;
const steps = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ does: fc.constant('request' as const), pet: fc.nat(PETS - 1) }),
    fc.record({
      does: fc.constant('decide' as const),
      adoption: fc.nat(9),
      next: fc.constantFrom(...ADOPTION_STATES),
    }),
    fc.record({ does: fc.constant('delete' as const), adoption: fc.nat(9) }),
  ),
  { minLength: 1, maxLength: 25 },
);

/** What the rules say that a step answers; the model is changed as the step should change the service. */
function expected(step: Step, known: Known[]): number {
  if (step.does === 'request') {
    const isTaken = known.some(({ pet, state }) => pet === step.pet && /requested|approved/.test(state));
    if (!isTaken) known.push({ pet: step.pet, state: 'requested' });
    return isTaken ? 409 : 201;
  }
  const adoption = known[step.adoption];
  if (!adoption || adoption.state === 'deleted') return 404;
  if (step.does === 'delete') {
    if (adoption.state !== 'declined') return 409;
    adoption.state = 'deleted';
    return 204;
  }
  if (adoption.state === step.next) return 200;
  if (adoption.state !== 'requested') return 409;
  adoption.state = step.next;
  return 200;
}

/** The status that an animal must have. */
function statusIn(known: readonly Known[], pet: number): string {
  const states = new Set(known.filter((one) => one.pet === pet).map(({ state }) => state));
  if (states.has('approved')) return 'sold';
  return states.has('requested') ? 'pending' : 'available';
}

describe('whatever is done in whichever order', () => {
  it('an animal is in one open adoption at most, and its status follows', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const pets: number[] = [];
        for (let pet = 0; pet < PETS; pet += 1) pets.push(Number((await service.add(PET)).id));
        const known: Known[] = [];
        const paths: string[] = [];
        const missing = '/v1/adoptions/1000000';
        for (const step of sequence) {
          let status: number;
          const path = (step.does === 'request' ? undefined : paths[step.adoption]) ?? missing;
          if (step.does === 'request') {
            const answer = await request(pets[step.pet] ?? 0);
            ({ status } = answer);
            if (status === 201) paths.push(`/v1/adoptions/${answer.body.id}`);
          } else if (step.does === 'delete') ({ status } = await service.request('DELETE', path));
          else ({ status } = await decide(path, step.next));
          expect(status).toBe(expected(step, known));
          for (const [at, pet] of pets.entries()) {
            expect(await statusOf(pet)).toBe(statusIn(known, at));
            const adoptions = (await service.request('GET', `/v1/adoptions?petId=${pet}`)).body as Adoption[];
            const states = known.filter((one) => one.pet === at && one.state !== 'deleted');
            expect(adoptions.map(({ state }) => state)).toEqual(states.map(({ state }) => state));
            expect(adoptions.filter(({ state }) => state === 'requested').length).toBeLessThan(2);
          }
        }
      }),
      { numRuns: 10 },
    );
  });

  it('the database refuses a second open adoption of an animal', async () => {
    const { id } = await service.add(PET);
    await request(Number(id));
    // Something other than an adoption has let the animal go.
    await service.repository(Pet).update({ id }, { status: 'available' });
    const { status, body } = await request(Number(id));
    expect([status, body.code]).toEqual([409, 'already_exists']);
    expect(await statusOf(Number(id))).toBe('available');
  });
});
