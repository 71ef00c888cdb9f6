import { Body, Controller, Get, Module, Post, Query } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, DataSource, Entity, In, Index, LessThan, type Repository } from 'typeorm';
import { beforeEach, describe, expect, it } from 'vitest';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { Int64Key } from '../../src/database/int64.js';
import { JsonRows } from '../../src/database/json-rows.js';
import { BY_INT64_ID, keysetPage } from '../../src/database/keyset-page.js';
import { PageQuery, Paged, type Pager } from '../../src/http/paging/pager.js';
import { Filter, Sort } from '../../src/http/paging/selection.decorators.js';
import { Decimal, Int64 } from '../../src/http/validation/fields.js';
import { addedTable } from '../support/added-table.js';
import { itOnSqlite } from '../support/databases.js';
import { described } from '../support/described.js';
import { UNLIMITED, openForAll } from '../support/opened.js';

type Value = string | number | null;

@Entity('invoices')
class Invoice {
  @Int64Key()
  id!: bigint;

  @Column('decimal', { precision: 10, scale: 2, nullable: true })
  net!: Value;

  @Column('decimal', { precision: 12, nullable: true })
  units!: Value;

  @Column('numeric', { nullable: true })
  rate!: Value;

  @Column('numeric', { precision: 6, scale: 3, nullable: true, transformer: { from: Number, to: String } })
  weight!: number;
}

class InvoiceDto {
  @ApiProperty({ type: 'integer' })
  id!: bigint;

  @ApiProperty()
  net!: string;
}

@Entity('prices')
@Index('prices_amount', ['amount', 'id'])
class Price {
  @Int64Key()
  id!: bigint;

  @Column('decimal', { precision: 10, scale: 2 })
  amount!: string;
}

class NewPrice {
  @Decimal({ precision: 10, scale: 2, minimum: '-10', maximum: '99999999.5', description: 'Of one' })
  amount!: string;

  @Decimal({ precision: 30, scale: 0, default: '1' })
  count!: string;

  @Decimal({ precision: 2, scale: 2, optional: true })
  share?: string;
}

class PriceDto {
  @Int64()
  id!: bigint;

  @Decimal({ precision: 10, scale: 2 })
  amount!: string;
}

class ListPrices extends PageQuery {
  @Filter({ property: 'amount', comparison: '>=' })
  @Decimal({ precision: 10, scale: 2, optional: true })
  from?: string;

  @Filter()
  @Decimal({ precision: 10, scale: 2, optional: true })
  amount?: string;

  @Sort({ by: ['amount', '-amount'] })
  sort?: string;
}

@Controller({ path: 'prices', version: '1' })
@RequireScopes()
class PricesController {
  constructor(@InjectRepository(Price) private readonly prices: Repository<Price>) {}

  @Get()
  @described('listPrices', { arrayOf: PriceDto, schemaName: 'Prices' })
  list(@Query() query: ListPrices, @Paged() pager: Pager): Promise<Price[]> {
    return pager.respond(query, (page) =>
      keysetPage(this.prices.createQueryBuilder('price'), page, BY_INT64_ID),
    );
  }

  @Post()
  @described('addPrice', { status: 201, type: PriceDto })
  async add(@Body() { amount }: NewPrice): Promise<Price> {
    const { id } = await this.prices.save({ amount });
    return this.prices.findOneByOrFail({ id });
  }
}

@Module({ imports: [addedTable(Price)], controllers: [PricesController] })
class PricesModule {}

const service = await openForAll({ modules: [addedTable(Invoice), PricesModule], ...UNLIMITED });
const invoices = service.app.get(DataSource).getRepository(Invoice);

beforeEach(() => invoices.clear());

it.each<[keyof Invoice, Value, unknown]>([
  ['net', '12.5', '12.50'],
  ['net', 12, '12.00'],
  ['net', 0.1 + 0.2, '0.30'],
  ['net', '-0.001', '0.00'],
  ['net', '1.005', '1.01'],
  ['net', '-1.005', '-1.01'],
  ['net', '9.995', '10.00'],
  ['net', 1e-7, '0.00'],
  ['net', '99999999.99', '99999999.99'],
  ['net', null, null],
  ['units', '12.5', '13'],
  ['units', 123456789012, '123456789012'],
  ['rate', '12.30', '12.3'],
  ['rate', '100', '100'],
  ['rate', 1.5e-7, '0.00000015'],
  ['rate', '123456789.012345', '123456789.012345'],
  ['weight', 1.25, 1.25],
])('the decimal %s of %s is read as %s, in any notation', async (property, value, expected) => {
  const row = () => ({ weight: 0, [property]: value });
  const ids: bigint[] = [];
  // By itself, by TypeORM, together with others, and as a change.
  ids.push(
    (await invoices.insert(row())).identifiers[0]?.['id'] as bigint,
    (await invoices.save(invoices.create(row()))).id,
  );
  await invoices.insert([row(), row()]);
  await invoices.save({ id: 90n, weight: 0 });
  await invoices.update({ id: 90n }, row());
  const found = await invoices.find();
  expect(found.map((one) => one[property])).toEqual([expected, expected, expected, expected, expected]);
  const raw = value === null ? [] : await invoices.findBy({ [property]: expected });
  expect(raw).toHaveLength(value === null ? 0 : 5);
});

it('decimals are sorted and compared as numbers', async () => {
  await invoices.insert(['9.5', '10', '-3', '100.25'].map((net) => ({ net, weight: 0 })));
  const nets = async (where: object) =>
    (await invoices.find({ where, order: { net: 'ASC' } })).map(({ net }) => net);
  expect(await nets({})).toEqual(['-3.00', '9.50', '10.00', '100.25']);
  expect(await nets({ net: LessThan('10.001') })).toEqual(['-3.00', '9.50', '10.00']);
  expect(await nets({ net: In(['9.5', '100.250']) })).toEqual(['9.50', '100.25']);
  expect(await invoices.sum('net' as never)).toBe(116.75);
});

it.each([
  [
    'has more digits than the column',
    { net: '123456789.12' },
    /overflow|has more digits than decimal\(10, 2\)/,
  ],
  ['is none', { net: 'a' }, /invalid input syntax|Invoice.net cannot be a: it is not a decimal/],
])('a decimal that %s is refused', async (_, row, sentence) => {
  await expect(invoices.insert({ weight: 0, ...row })).rejects.toThrow(sentence);
});

itOnSqlite('a decimal that a double cannot hold is refused, and the sentence says what to use', async () => {
  for (const rate of ['1234567890.123456', 2 ** 60, 0.1 + 0.2])
    await expect(invoices.save({ weight: 0, rate })).rejects.toThrow(
      /SQLite stores 15 digits of a decimal. Use @Int64Column\(\)/,
    );
});

it('JsonRows shows no decimal, and says so', async () => {
  await expect(service.app.get(JsonRows).page(Invoice as never, InvoiceDto, { limit: 1 })).rejects.toThrow(
    'JSON cannot show net of InvoiceDto',
  );
});

describe('@Decimal()', () => {
  const post = (json: object) => service.request('POST', '/v1/prices', { json });

  it.each([
    ['12.50', '12.50'],
    ['12.5', '12.50'],
    ['-0.00', '0.00'],
    ['-10', '-10.00'],
    ['99999999.50', '99999999.50'],
  ])('%s is stored as %s', async (amount, stored) => {
    const { status, body } = await post({ amount });
    expect([status, body.amount]).toEqual([201, stored]);
  });

  const OTHERS: unknown[] = ['1e2', '+1', '01', '-01', '00', '.5', '1.', '1.234', '123456789', '1,5', ' 1'];
  OTHERS.push('1\n', '', 'NaN', '١', 12.5, 12, true, null, ['1']);
  it.each(OTHERS)('%j is no decimal', async (amount) => {
    const { status, body } = await post({ amount });
    expect([status, body.details]).toMatchObject([400, [{ field: 'amount', code: 'not_a_decimal' }]]);
  });

  it.each([
    [{ amount: '-10.01' }, ['amount', 'out_of_range']],
    [{ amount: '99999999.51' }, ['amount', 'out_of_range']],
    [{ amount: '1', count: '1.0' }, ['count', 'not_a_decimal']],
    [{ amount: '1', count: '1'.repeat(31) }, ['count', 'not_a_decimal']],
    [{ amount: '1', share: '1' }, ['share', 'not_a_decimal']],
  ])('%j is refused', async (json, [field, code]) => {
    const { status, body } = await post(json);
    expect([status, body.details]).toMatchObject([400, [{ field, code }]]);
  });

  it('filters and orders lists as numbers', async () => {
    await service.repository(Price).clear();
    for (const amount of ['9.5', '10', '-3', '100.25'])
      expect((await post({ amount, count: '9'.repeat(30), share: '0.25' })).status).toBe(201);
    const amounts = async (query: string) =>
      (await service.everyPage(`/v1/prices?limit=1&${query}`)).map(({ amount }) => amount);
    expect(await amounts('sort=amount')).toEqual(['-3.00', '9.50', '10.00', '100.25']);
    expect(await amounts('sort=-amount')).toEqual(['100.25', '10.00', '9.50', '-3.00']);
    expect(await amounts('from=9.50')).toEqual(['9.50', '10.00', '100.25']);
    expect(await amounts('amount=9.50')).toEqual(['9.50']);
    expect((await service.request('GET', '/v1/prices?from=1e1')).status).toBe(400);
  });

  it('is documented as text with a pattern', () => {
    const schemas = service.document.components?.schemas as Record<string, { properties: object }>;
    expect(schemas['NewPrice']?.properties).toMatchObject({
      amount: {
        type: 'string',
        format: 'decimal',
        pattern: '^-?(0|[1-9]\\d{0,7})(\\.\\d{1,2})?$',
        description: 'Of one. This must be at least -10 and at most 99999999.5.',
      },
      share: { pattern: '^-?0(\\.\\d{1,2})?$' },
    });
  });

  it.each([
    [{ precision: 2, scale: 3 }, /it has 2 digits, 3 of them after the point/],
    [
      { precision: 4, scale: 2, minimum: '1.234' },
      /its bound 1.234 is not a decimal with this precision and scale/,
    ],
    [{ precision: 4, scale: 2, minimum: '9.5', maximum: '10.4' }, undefined],
    [{ precision: 4, scale: 2, minimum: '10', maximum: '9.5' }, /its maximum 9.5 is below 10/],
    [{ precision: 4, scale: 2, default: '1e1' }, /it has the default "1e1", which it refuses/],
  ])('of %j stops the start where nothing fits', (options, sentence) => {
    class Declared {}
    const declare = () => Decimal(options)(Declared.prototype, 'amount');
    if (sentence) expect(declare).toThrow(sentence);
    else expect(declare).not.toThrow();
  });
});
