import { join } from 'node:path';
import { ApiProperty } from '@nestjs/swagger';
import fc from 'fast-check';
import type { Repository } from 'typeorm';
import { beforeAll, describe, expect, it } from 'vitest';
import { openDataSource } from '../../../src/database/data-source.js';
import { INT64_MAX, INT64_MIN } from '../../../src/database/int64.js';
import { JsonRows, type JsonText } from '../../../src/database/json-rows.js';
import { migrate } from '../../../src/database/schema.js';
import type { SqliteDataSource } from '../../../src/database/sqlite/sqlite-data-source.js';
import { writeExactJson } from '../../../src/core/exact-json.js';
import { PET_STATUSES, Pet } from '../../support/pets/pet.entity.js';
import { PetDto } from '../../support/pets/pets.dto.js';
import { emptyFolder } from '../../support/service-process.js';

class Badge {
  @ApiProperty({ name: "pet's name" })
  name!: string;

  @ApiProperty()
  id!: bigint;

  /** Nothing of the contract. */
  status!: string;
}

class WithAge extends PetDto {
  @ApiProperty()
  age!: number;
}

class WithScopes {
  @ApiProperty()
  scopes!: string[];
}

/** JsonRows without the types of its parameters. */
interface Untyped {
  one(entity: unknown, dto: unknown, id: bigint): Promise<unknown>;
  page(entity: unknown, dto: unknown, request: object, equal?: object): Promise<unknown>;
}

/** What must not compile; nothing runs it. */
export async function misuses(rows: JsonRows): Promise<unknown> {
  // @ts-expect-error -- Pet has no property `age`.
  await rows.one(Pet, WithAge, 1n);
  // @ts-expect-error -- the same for a page.
  await rows.page(Pet, WithAge, { limit: 1 });
  // @ts-expect-error -- the entity has no int64 `id`.
  await rows.one(WithScopes, WithScopes, 1n);
  // @ts-expect-error -- no property of Pet.
  await rows.page(Pet, PetDto, { limit: 1 }, { noColumn: 'red' });
  // @ts-expect-error -- no value of the property.
  await rows.page(Pet, PetDto, { limit: 1 }, { status: 'lost' });
  // @ts-expect-error -- the text shows a Badge, which is no PetDto.
  const pet: JsonText<PetDto> | undefined = await rows.one(Pet, Badge, 1n);
  // @ts-expect-error -- a page shows several.
  const pets: JsonText<PetDto> = (await rows.page(Pet, PetDto, { limit: 1 })).items;
  return [pet, pets];
}

const int64 = fc.oneof(
  fc.bigInt(INT64_MIN, INT64_MAX),
  fc.constantFrom(INT64_MIN, INT64_MAX, 0n, 2n ** 53n + 1n),
);
const pets = fc.uniqueArray(
  fc.record({
    id: int64,
    // Half of a surrogate pair is no text; the database would store U+FFFD in its place.
    name: fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
    categoryId: int64,
    status: fc.constantFrom(...PET_STATUSES),
  }),
  { maxLength: 12, selector: ({ id }) => id },
);

describe('JSON that is read from rows', () => {
  let dataSource: SqliteDataSource;
  let rows: JsonRows;
  let repository: Repository<Pet>;
  beforeAll(async () => {
    const { path, remove } = await emptyFolder();
    const databaseUrl = `sqlite:${join(path, 'a.sqlite')}`;
    dataSource = (await openDataSource({ databaseUrl })) as SqliteDataSource;
    await migrate(dataSource);
    [rows, repository] = [new JsonRows(dataSource, dataSource.reader), dataSource.getRepository(Pet)];
    return async () => {
      await dataSource.destroy();
      await remove();
    };
  });

  it('is byte for byte the JSON of the entities, page by page and one by one', async () => {
    const status = fc.option(fc.constantFrom(...PET_STATUSES), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(pets, fc.integer({ min: 1, max: 5 }), status, async (made, limit, only) => {
        await repository.clear();
        for (const pet of made) await repository.insert(pet);
        const found = await repository.find({
          where: only === undefined ? {} : { status: only },
          order: { id: 'ASC' },
        });
        let after: readonly string[] | undefined;
        for (let at = 0; at === 0 || at < found.length; at += limit) {
          const page = await rows.page(
            Pet,
            PetDto,
            { limit, ...(after ? { after } : {}) },
            only === undefined ? {} : { status: only },
          );
          expect(page.items.text).toBe(writeExactJson(found.slice(at, at + limit)));
          expect(page.next !== undefined).toBe(at + limit < found.length);
          after = page.next;
        }
        for (const pet of found)
          expect((await rows.one(Pet, PetDto, pet.id))?.text).toBe(writeExactJson(pet));
      }),
      { numRuns: 25 },
    );
    expect(await rows.one(Pet, PetDto, 424_242n)).toBeUndefined();
  });

  it('is filtered by no property whose value is undefined', async () => {
    await repository.clear();
    await repository.insert({ id: 1n, name: 'Rex', categoryId: 1n, status: 'sold' });
    const all = await rows.page(Pet, PetDto, { limit: 100 });
    expect(all.items.text).toContain('Rex');
    expect(await rows.page(Pet, PetDto, { limit: 100 }, { status: undefined })).toEqual(all);
  });

  it('shows what the DTO declares, under its names and in its order, and nothing else', async () => {
    await repository.clear();
    await repository.insert({ id: 7n, name: 'Rex', categoryId: 2n, status: 'sold' });
    expect((await rows.one(Pet, Badge, 7n))?.text).toBe(`{"pet's name":"Rex","id":7}`);
    const { items } = await rows.page(Pet, Badge, { limit: 5 }, { status: 'sold' });
    expect(items.text).toBe(`[{"pet's name":"Rex","id":7}]`);
    // Another DTO of the same rows has statements of its own.
    expect((await rows.one(Pet, PetDto, 7n))?.text).toContain('"categoryId":2');
  });

  it.each([
    ['a property that is no column', Pet, WithAge, 'no column for the property age'],
    ['a column that JSON cannot show', 'ApiKey', WithScopes, 'cannot show scopes'],
    ['nothing', Pet, class Empty {}, 'declares no property'],
  ] as const)('refuses a DTO that declares %s', async (_what, entity, dto, reason) => {
    const untyped: Untyped = rows;
    await expect(untyped.one(entity, dto, 1n)).rejects.toThrow(reason);
    await expect(untyped.page(entity, dto, { limit: 1 })).rejects.toThrow(reason);
  });
});
