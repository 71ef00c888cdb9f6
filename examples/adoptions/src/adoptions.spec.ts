import { Pet, type PetStatus } from 'petstore-service/pets';
import { TestService, defineFixture, unindexedLists } from 'petstore-service/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADOPTION_STATES, type AdoptionState } from './adoption-states.js';
import { Adoption } from './adoption.entity.js';
import { AdoptionsModule } from './adoptions.module.js';

const NOW = '2026-12-24T18:00:00.000Z';
const PET = defineFixture(Pet, (number) => ({ name: `Pet ${number}`, categoryId: 1n, status: 'available' }));

let service: TestService;
beforeAll(async () => {
  service = await TestService.open({ modules: [AdoptionsModule], at: NOW });
});
afterAll(() => service.close());

const pet = (status: PetStatus = 'available') => service.add(PET, { status });
const statusOf = async (petId: bigint) => (await service.request('GET', `/v1/pets/${petId}`)).body.status;
const request = (petId: bigint, more: object = {}) =>
  service.request('POST', '/v1/adoptions', { json: { petId: Number(petId), adopterName: 'Ada', ...more } });

/** Requests an adoption. Returns it with its path and the ETag of the response. */
async function open() {
  const { id: petId } = await pet();
  const { body, headers } = await request(petId);
  return { petId, body, path: `/v1/adoptions/${body.id}`, etag: headers.get('etag') ?? '' };
}

/** Requests an adoption and changes its state. */
async function inState(state: AdoptionState) {
  const { path, etag, ...adoption } = await open();
  const json = { state };
  const { headers } = await service.request('PATCH', path, { json, headers: { 'if-match': etag } });
  return { ...adoption, path, etag: headers.get('etag') ?? '' };
}

describe('requesting an adoption', () => {
  it('reserves the animal, and returns the location of the adoption', async () => {
    const { id: petId } = await pet();
    const created = await request(petId, { note: 'Has a garden' });
    expect([created.status, created.body]).toEqual([
      201,
      {
        petId: Number(petId),
        adopterName: 'Ada',
        note: 'Has a garden',
        id: expect.any(Number),
        state: 'requested',
        requestedAt: NOW,
        decidedAt: null,
      },
    ]);
    const path = `/v1/adoptions/${created.body.id}`;
    expect(created.headers.get('location')).toBe(path);
    const fetched = await service.request('GET', path);
    expect([fetched.body, fetched.headers.get('etag')]).toEqual([created.body, created.headers.get('etag')]);
    expect(await statusOf(petId)).toBe('pending');
  });

  it.each([
    ['is reserved', 'pending'],
    ['is sold', 'sold'],
  ] as const)('is refused when the animal %s', async (_, status) => {
    const { id } = await pet(status);
    const { status: answered, body } = await request(id);
    expect([answered, body]).toEqual([
      409,
      { code: 'pet_not_available', status: 409, message: `The animal ${id} is not available.` },
    ]);
    expect(await statusOf(id)).toBe(status);
  });

  it('is refused for an animal that does not exist', async () => {
    const { status, body } = await request(1_000_000n);
    expect([status, body.details]).toMatchObject([400, [{ field: 'petId', code: 'unknown_reference' }]]);
  });

  it('is refused with what only the service sets, and reserves nothing', async () => {
    const { id } = await pet();
    const { status, body } = await request(id, { state: 'approved' });
    expect([status, body.details]).toMatchObject([400, [{ field: 'state', code: 'unknown_field' }]]);
    expect(await statusOf(id)).toBe('available');
  });
});

describe('an adoption', () => {
  const AFTER: Readonly<Record<AdoptionState, PetStatus>> = {
    requested: 'pending',
    approved: 'sold',
    declined: 'available',
    expired: 'available',
  };
  const ways = ADOPTION_STATES.flatMap((from) => ADOPTION_STATES.map((to) => ({ from, to })));

  it.each(ways.filter(({ from, to }) => from === 'requested' || from === to))(
    'that is $from can become $to, and the animal follows',
    async ({ from, to }) => {
      const { path, etag, petId } = await inState(from);
      const changed = await service.request('PATCH', path, {
        json: { state: to },
        headers: { 'if-match': etag },
      });
      expect([changed.status, changed.body.state]).toEqual([200, to]);
      expect(changed.body.decidedAt).toBe(to === 'requested' ? null : NOW);
      const fetched = await service.request('GET', path);
      expect([fetched.body, fetched.headers.get('etag')]).toEqual([
        changed.body,
        changed.headers.get('etag'),
      ]);
      expect(await statusOf(petId)).toBe(AFTER[to]);
    },
  );

  it.each(ways.filter(({ from, to }) => from !== 'requested' && from !== to))(
    'that is $from cannot become $to',
    async ({ from, to }) => {
      const { path, etag, petId, body: adoption } = await inState(from);
      const { status, body } = await service.request('PATCH', path, {
        json: { state: to, note: 'Changed' },
        headers: { 'if-match': etag },
      });
      expect([status, body]).toEqual([
        409,
        {
          code: 'adoption_decided',
          status: 409,
          message: `The adoption ${adoption.id} is ${from}, which is final.`,
        },
      ]);
      expect((await service.request('GET', path)).body).toMatchObject({ state: from, note: null });
      expect(await statusOf(petId)).toBe(AFTER[from]);
    },
  );

  it('is not approved when something else has released the animal; it can be declined then', async () => {
    const { path, etag, petId } = await open();
    await service.repository(Pet).update({ id: petId }, { status: 'available' });
    const decide = (state: string) =>
      service.request('PATCH', path, { json: { state }, headers: { 'if-match': etag } });
    const approved = await decide('approved');
    expect([approved.status, approved.body.code]).toEqual([409, 'pet_not_reserved']);
    expect((await decide('declined')).status).toBe(200);
    expect(await statusOf(petId)).toBe('available');
  });
});

describe('deleting an adoption', () => {
  it('removes a declined one, once', async () => {
    const { path } = await inState('declined');
    expect((await service.request('DELETE', path)).status).toBe(204);
    const again = await service.request('DELETE', path);
    expect([again.status, again.body.code]).toEqual([404, 'adoption_not_found']);
  });

  it.each(['requested', 'approved', 'expired'] as const)('is refused while it is %s', async (state) => {
    const { path } = await inState(state);
    const { status, body } = await service.request('DELETE', path);
    expect([status, body.code]).toEqual([409, 'adoption_not_declined']);
    expect((await service.request('GET', path)).status).toBe(200);
  });
});

describe('the list', () => {
  const ids = async (query: string) =>
    (await service.everyPage(`/v1/adoptions?limit=2&${query}`)).map(({ id }) => id);
  const days = [20, 21, 22, 23].map((day) => `2026-11-${day}T12:00:00.000Z`);
  const states: AdoptionState[] = ['requested', 'declined', 'expired', 'declined'];
  let petId: bigint;
  let added: number[];
  beforeAll(async () => {
    ({ id: petId } = await pet('pending'));
    const rows = service.repository(Adoption);
    added = [];
    for (const [at, requestedAt] of days.entries()) {
      const state = states[at] ?? 'requested';
      const row = rows.create({
        petId,
        adopterName: 'Grace',
        note: null,
        state,
        requestedAt,
        decidedAt: null,
      });
      await rows.insert(row);
      added.push(Number(row.id));
    }
  });

  it.each([
    ['of one animal', '', [0, 1, 2, 3]],
    ['of one state', 'state=declined', [1, 3]],
    ['of several states', 'state=requested,expired', [0, 2]],
    ['from a time on', `requestedFrom=${days[1]}`, [1, 2, 3]],
    ['before a time', `requestedBefore=${days[1]}`, [0]],
    [
      'between times, the latest first',
      `requestedFrom=${days[1]}&requestedBefore=${days[3]}&sort=-requestedAt`,
      [2, 1],
    ],
    ['the latest first', 'sort=-requestedAt', [3, 2, 1, 0]],
    ['the newest first', 'sort=-id', [3, 2, 1, 0]],
  ])('%s', async (_, query, expected) => {
    expect(await ids(`petId=${petId}&${query}`)).toEqual(expected.map((at) => added[at]));
  });

  it('has an index for every filter and order', async () => {
    expect(await unindexedLists(service)).toEqual([]);
  });
});
