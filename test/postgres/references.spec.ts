import { Body, Controller, Module, Param, Patch, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Check, Column, DataSource, Entity, ForeignKey, type Repository } from 'typeorm';
import { beforeEach, describe, expect, it } from 'vitest';
import { Int64Column, Int64Key } from '../../src/database/int64.js';
import { References } from '../../src/database/references.js';
import { Idempotent } from '../../src/http/idempotency/idempotent.decorator.js';
import { Int64, Text } from '../../src/http/validation/fields.js';
import { Pet } from '../support/pets/pet.entity.js';
import { addedTable } from '../support/added-table.js';
import { openForAll } from '../support/opened.js';

@Entity('litters')
@Check('litters_named', `name <> 'never'`)
class Litter {
  @Int64Key()
  id!: bigint;

  @Int64Column({ name: 'mother_id' })
  @ForeignKey(() => Pet, { name: 'litters_mother' })
  motherId!: bigint;

  @Int64Column({ name: 'father_id', nullable: true })
  @ForeignKey(() => Pet, { name: 'litters_father' })
  fatherId!: bigint | null;

  @Column('varchar', { length: 9 })
  name!: string;
}

class NewLitter {
  @Int64()
  motherId!: bigint;

  @Int64({ optional: true, nullable: true })
  fatherId?: bigint | null;

  @Text({ maxLength: 9 })
  name!: string;
}

class LitterParams {
  @Int64()
  litterId!: bigint;
}

@Controller({ path: 'litters', version: '1' })
class LittersController {
  constructor(
    @InjectRepository(Litter) private readonly litters: Repository<Litter>,
    private readonly references: References,
    private readonly dataSource: DataSource,
  ) {}

  @Post()
  @Idempotent()
  async add(@Body() { fatherId = null, ...litter }: NewLitter): Promise<object> {
    const row = this.litters.create({ ...litter, fatherId });
    await this.references.write(Litter, row, () => this.litters.insert(row));
    return { id: row.id };
  }

  /** Adds an animal and refers to it in one transaction, and goes on in it when that refers to nothing. */
  @Post('of-new')
  async addOfNew(): Promise<object> {
    return this.dataSource.transaction(async (manager) => {
      const pet = manager.create(Pet, { name: 'Mum', categoryId: 1n, status: 'sold' });
      await manager.insert(Pet, pet);
      const add = (fatherId: bigint) => {
        const row = this.litters.create({ motherId: pet.id, fatherId, name: 'a' });
        return this.references.write(Litter, row, () => this.litters.insert(row));
      };
      const refused = await add(-1n).catch((error: unknown) => error);
      await add(pet.id);
      return { refused: (refused as { body: object }).body, count: await this.litters.count() };
    });
  }

  @Patch(':litterId')
  async change(@Param() { litterId }: LitterParams, @Body() fields: NewLitter): Promise<object> {
    await this.references.write(Litter, fields, () => this.litters.update({ id: litterId }, fields));
    return {};
  }
}

@Module({ imports: [addedTable(Litter)], controllers: [LittersController] })
class LittersModule {}

const service = await openForAll({ modules: [LittersModule], database: 'file' });
let pet: number;
beforeEach(async () => {
  await service.repository(Litter).clear();
  const { body } = await service.request('POST', '/v1/pets', { json: { name: 'Rex', categoryId: 1 } });
  pet = Number(body.id);
});

const NOTHING = 9_223_372_036_854_775_807n;
const fault = (field: string, id: bigint = NOTHING) => ({
  field,
  code: 'unknown_reference',
  message: `No resource has the id ${id}.`,
});
const litter = (more: string) => `{"name":"a",${more}}`;
const rows = async () => service.repository(Litter).count();

describe.each([
  ['without an Idempotency-Key', {}],
  ['with an Idempotency-Key', { 'idempotency-key': 'k' }],
])('a reference to nothing, %s', (_, key) => {
  it.each([
    ['one', () => `"motherId":${NOTHING}`, [fault('motherId')]],
    ['one that may be absent', () => `"motherId":${pet},"fatherId":${NOTHING}`, [fault('fatherId')]],
    ['two at once', () => `"motherId":${NOTHING},"fatherId":-1`, [fault('motherId'), fault('fatherId', -1n)]],
  ])('is an error of the field that names it: %s', async (what, more, details) => {
    const headers = Object.fromEntries(
      Object.entries(key).map(([name, value]) => [name, `${value}-${what.length}`]),
    );
    const { status, body } = await service.request('POST', '/v1/litters', { json: litter(more()), headers });
    expect([status, body.code, body.details]).toEqual([400, 'validation_failed', details]);
    expect(await rows()).toBe(0);
    // A refusal is not stored, so the corrected request is executed.
    const right = await service.request('POST', '/v1/litters', {
      json: litter(`"motherId":${pet}`),
      headers,
    });
    expect(right.status).toBe(201);
  });
});

it('is one of an update as well, which then changes nothing', async () => {
  const { body } = await service.request('POST', '/v1/litters', { json: litter(`"motherId":${pet}`) });
  const change = (more: string) => service.request('PATCH', `/v1/litters/${body.id}`, { json: litter(more) });
  const refused = await change(`"motherId":${NOTHING}`);
  expect([refused.status, refused.body.details]).toEqual([400, [fault('motherId')]]);
  expect((await change(`"motherId":${pet},"fatherId":null`)).status).toBe(200);
});

it('leaves the transaction around it as it was, which sees its own rows', async () => {
  const { status, body } = await service.request('POST', '/v1/litters/of-new', { json: {} });
  expect([status, body]).toMatchObject([201, { refused: { details: [fault('fatherId', -1n)] }, count: 1 }]);
});

it('is not what another violated rule of the table is taken for', async () => {
  const json = { name: 'never', motherId: 1_000_000 };
  const { status } = await service.request('POST', '/v1/litters', { json });
  expect(status).toBe(500);
});

it('is decided row by row, when an animal is deleted while many refer to it', async () => {
  const adds = Array.from({ length: 40 }, (_, at) =>
    service.request('POST', '/v1/litters', { json: litter(`"motherId":${at % 2 === 0 ? pet : 77}`) }),
  );
  const responses = await Promise.all([
    ...adds,
    service.app
      .get(DataSource)
      .getRepository(Pet)
      .delete({ id: BigInt(pet) })
      .then(
        () => undefined,
        () => undefined,
      ),
  ]);
  const refused = responses.filter((response) => response?.status === 400);
  expect(refused.length).toBeGreaterThanOrEqual(20);
  expect(responses.every((response) => !response || [201, 400].includes(response.status))).toBe(true);
  expect(await rows()).toBe(40 - refused.length);
});
