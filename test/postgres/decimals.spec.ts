import { ApiProperty } from '@nestjs/swagger';
import { Column, DataSource, Entity, In, LessThan } from 'typeorm';
import { beforeEach, expect, it } from 'vitest';
import { Int64Key } from '../../src/database/int64.js';
import { JsonRows } from '../../src/database/json-rows.js';
import { addedTable } from '../support/added-table.js';
import { itOnSqlite } from '../support/databases.js';
import { openForAll } from '../support/opened.js';

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

const service = await openForAll({ modules: [addedTable(Invoice)] });
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
])('the decimal %s of %s is read as %s, however it is written', async (property, value, expected) => {
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
