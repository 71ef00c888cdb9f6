import { DataSource } from 'typeorm';
import { expect, it } from 'vitest';
import { Pet } from '../../support/pets/pet.entity.js';
import { openForTest } from '../../support/opened.js';
import { describeWith } from '../../support/requirements.js';

interface Listed {
  readonly id: number;
  readonly name: string;
}

describeWith('postgres', 'an animal that is committed after one with a larger id', () => {
  it('may be missed by who follows the list, and never by who reads it again', async () => {
    const service = await openForTest();
    const add = (name: string) => service.request('POST', '/v1/pets', { json: { name, categoryId: 1 } });
    const page = async (path: string) => {
      const { body, headers } = await service.request('GET', path);
      const [, next = ''] = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
      return { names: (body as Listed[]).map(({ name }) => name), next };
    };
    await add('first');
    const pets = service.app.get(DataSource).getRepository(Pet);
    const followed = await service.app.get(DataSource).transaction(async () => {
      await pets.insert({ name: 'late', categoryId: 1n, status: 'available' });
      // These are no part of the transaction: they come over HTTP.
      await add('second');
      await add('third');
      return page('/v1/pets?limit=2');
    });
    expect(followed.names).toEqual(['first', 'second']);
    expect((await page(followed.next)).names).toEqual(['third']);
    expect((await page('/v1/pets')).names).toEqual(['first', 'late', 'second', 'third']);
    // A cached page that is followed by another contains it as well.
    expect((await page('/v1/pets?limit=2')).names).toEqual(['first', 'late']);
  });
});
