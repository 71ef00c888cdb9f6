import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DataSource } from 'typeorm';
import { INT64_MAX, INT64_MIN } from '../../src/database/int64.js';
import { Pet } from '../support/pets/pet.entity.js';
import { ON_POSTGRES, withParameters } from '../support/databases.js';
import { UNLIMITED, openForAll } from '../support/opened.js';

const service = await openForAll({
  ...UNLIMITED,
});

const int64 = fc.oneof(
  fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
  // Around what a double holds exactly, and the ends.
  fc.bigInt({ min: 2n ** 53n - 4n, max: 2n ** 53n + 4n }),
  fc.bigInt({ min: -(2n ** 53n) - 4n, max: -(2n ** 53n) + 4n }),
  fc.constantFrom(INT64_MIN, INT64_MIN + 1n, -1n, 0n, 1n, INT64_MAX - 1n, INT64_MAX),
);

const post = (categoryId: string) =>
  service.request('POST', '/v1/pets', { json: `{"name":"a","categoryId":${categoryId}}` });
const categoryIn = (text: string) => /"categoryId":(-?\d+)/.exec(text)?.[1];

describe('an int64', () => {
  it('survives request, database and response to the last digit', async () => {
    await fc.assert(
      fc.asyncProperty(int64, async (categoryId) => {
        const created = await post(String(categoryId));
        expect([created.status, categoryIn(created.text)]).toEqual([201, String(categoryId)]);
        const fetched = await service.request('GET', created.headers.get('location') ?? '');
        expect(fetched.text).toBe(created.text);
      }),
      { numRuns: 50 },
    );
  });

  it('is refused if it is not an int64, with any digits', async () => {
    const outside = fc.oneof(
      fc.bigInt({ min: INT64_MAX + 1n, max: 10n ** 40n }),
      fc.bigInt({ min: -(10n ** 40n), max: INT64_MIN - 1n }),
    );
    await fc.assert(
      fc.asyncProperty(outside, async (categoryId) => {
        const { status, body } = await post(String(categoryId));
        expect([status, body.details[0].code]).toEqual([400, 'out_of_range']);
      }),
      { numRuns: 20 },
    );
  });

  it('is exact as an id, in path, database, list, response and Location', async () => {
    const id = 2n ** 53n + 1n;
    await service.app
      .get(DataSource)
      .query(
        withParameters(`INSERT INTO pets (id, name, category_id, status) VALUES (?, 'Far', 1, 'sold')`),
        [id],
      );
    expect((await service.request('GET', `/v1/pets/${id}`)).text).toContain(`"id":${id},`);
    expect((await service.request('GET', `/v1/pets/${id - 1n}`)).status).toBe(404);
    expect((await service.request('GET', '/v1/pets?status=sold')).text).toContain(`"id":${id},`);
    if (ON_POSTGRES)
      await service.app
        .get(DataSource)
        .query(`SELECT setval(pg_get_serial_sequence('pets', 'id'), $1)`, [id]);
    const next = await post('1');
    expect(next.text).toContain(`"id":${id + 1n},`);
    expect(next.headers.get('location')).toBe(`/v1/pets/${id + 1n}`);
  });

  it('is exact for a module that uses a plain repository', async () => {
    const repository = service.app.get(DataSource).getRepository(Pet);
    const categoryId = 2n ** 62n + 1n;
    const saved = await repository.save(repository.create({ name: 'Saved', categoryId, status: 'sold' }));
    expect(typeof saved.id).toBe('bigint');
    const [found] = await repository.find({ where: { categoryId } });
    expect(found).toEqual(saved);
    await repository.update({ categoryId }, { name: 'Renamed' });
    expect((await repository.findOneByOrFail({ id: saved.id })).name).toBe('Renamed');
    await repository.delete({ id: saved.id });
    expect(await repository.countBy({ categoryId })).toBe(0);
  });

  it('is a number to the query around one', async () => {
    const { manager } = service.app.get(DataSource);
    const ids = [9n, 10n];
    await manager.upsert(
      Pet,
      ids.map((id) => ({ id, name: 'Within', categoryId: id, status: 'sold' as const })),
      ['id'],
    );
    const found = await manager
      .createQueryBuilder()
      .select('CAST(MAX(pet.id) AS TEXT)', 'last')
      .from((query) => query.select('pet.id', 'id').from(Pet, 'pet').where({ name: 'Within' }), 'pet')
      .getRawOne<object>();
    expect(found).toEqual({ last: '10' });
  });

  it.each([2n ** 54n + 1n, INT64_MAX, INT64_MIN])(
    'of %s is exact for a module that joins and takes a few',
    async (id) => {
      const pets = service.app.get(DataSource).getRepository(Pet);
      await pets.clear();
      await pets.insert([
        { id, name: 'Far', categoryId: id, status: 'sold' },
        { id: id / 2n, name: 'Near', categoryId: id, status: 'sold' },
      ]);
      const joined = (direction: 'ASC' | 'DESC') =>
        pets
          .createQueryBuilder('pet')
          .leftJoinAndMapMany('pet.others', Pet, 'other', 'other.categoryId = pet.categoryId')
          .where({ categoryId: id })
          .orderBy('pet.id', direction);
      const far = { id, name: 'Far', categoryId: id };
      expect(
        await joined(id > 0n ? 'DESC' : 'ASC')
          .take(1)
          .getOne(),
      ).toMatchObject({ ...far, others: [{}, {}] });
      expect(
        await joined(id > 0n ? 'ASC' : 'DESC')
          .skip(1)
          .take(1)
          .getMany(),
      ).toMatchObject([far]);
      expect((await joined('ASC').take(2).getMany()).map((pet) => pet.id)).toEqual(
        [id, id / 2n].toSorted((a, b) => (a < b ? -1 : 1)),
      );
      await pets.delete({ categoryId: id });
      expect(await joined('ASC').take(1).getOne()).toBeNull();
    },
  );
});
