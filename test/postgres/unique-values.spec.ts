import { Controller, Module, Post } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, type Repository } from 'typeorm';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { uniqueViolation } from '../../src/database/constraint-violations.js';
import { Idempotent } from '../../src/http/idempotency/idempotent.decorator.js';
import { Pet } from '../support/pets/pet.entity.js';
import { openForAll } from '../support/opened.js';

/** Adds an animal whose key the caller knows, so that a second one violates the primary key. */
@Controller({ path: 'sevenths', version: '1' })
class SeventhsController {
  constructor(@InjectRepository(Pet) private readonly pets: Repository<Pet>) {}

  @Post()
  @Idempotent()
  async add(): Promise<object> {
    await this.pets.insert({ id: 7n, name: 'Rex', categoryId: 1n, status: 'available' as never });
    return {};
  }

  /** Adds a key of a client that is not there. */
  @Post('keys')
  async addKey(): Promise<object> {
    await this.pets.manager.query(
      `INSERT INTO api_keys (id, client_id, digest, prefix, scopes, created_at)
       VALUES ('k', 'nobody', 'd', 'pst_test_0000', '[]', '2026-11-20T12:00:00.000Z')`,
    );
    return {};
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Pet])], controllers: [SeventhsController] })
class SeventhsModule {}

const service = await openForAll({ modules: [SeventhsModule] });
beforeEach(() => service.app.get(DataSource).query('DELETE FROM pets'));

async function add(key?: string): Promise<unknown[]> {
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  const { status, body, text } = await service.request('POST', '/v1/sevenths', { json: {}, headers });
  expect(text).not.toMatch(/UNIQUE|SQLITE|INSERT|pets/);
  return [status, body.code ?? null];
}

it.each([undefined, 'k-2'])(
  'a value that must be unique and is taken gets 409, with the key %o too, and nothing of it is stored',
  async (key) => {
    expect(await add(`first ${key}`.replace(' ', '-'))).toEqual([201, null]);
    expect(await add(key)).toEqual([409, 'already_exists']);
    await service.app.get(DataSource).query('DELETE FROM pets');
    expect(await add(key)).toEqual([201, null]);
  },
);

it('of ten at once that want the same value, one has it', async () => {
  const responses = await Promise.all(Array.from({ length: 10 }, () => add()));
  expect(responses.map(([status]) => Number(status)).toSorted((a, b) => a - b)).toEqual([
    201,
    ...Array<number>(9).fill(409),
  ]);
});

it('an index over an expression is named, with a function name of any length', async () => {
  const dataSource = service.app.get(DataSource);
  const isPostgres = dataSource.options.type === 'postgres';
  const long = isPostgres ? 'the_name_of_an_animal_without_its_upper_case' : 'lower';
  if (isPostgres)
    await dataSource.query(
      `CREATE FUNCTION ${long}(varchar) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT lower($1)'`,
    );
  await dataSource.query(`CREATE UNIQUE INDEX pets_by_name ON pets (${long}(name))`);
  onTestFinished(() => dataSource.query('DROP INDEX pets_by_name'));
  const insert = (name: string) =>
    dataSource.manager.insert(Pet, { name, categoryId: 1n, status: 'available' });
  await insert('Rex');
  const refused = insert('rex').catch(uniqueViolation);
  expect(await refused).toEqual([`index 'pets_by_name'`]);
});

it('an error of the database that contains the words of an outage is not one', async () => {
  const dataSource = service.app.get(DataSource);
  await dataSource.query('CREATE UNIQUE INDEX ssl_certificate ON pets (name)');
  onTestFinished(() => dataSource.query('DROP INDEX ssl_certificate'));
  const insert = () => dataSource.manager.insert(Pet, { name: 'Rex', categoryId: 1n, status: 'available' });
  await insert();
  expect(await insert().catch(uniqueViolation)).toEqual(['pets.name']);
});

it('a reference to a missing row gets 409', async () => {
  const { status, body, text } = await service.request('POST', '/v1/sevenths/keys', { json: {} });
  expect([status, body.code]).toEqual([409, 'reference_conflict']);
  expect(text).not.toMatch(/FOREIGN|SQLITE|INSERT/);
});
