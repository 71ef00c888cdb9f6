import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { faultsOf } from '../support/faults.js';
import { UNLIMITED, openForAll } from '../support/opened.js';
import { Purchase, PurchaseLine, PurchasesModule } from '../support/purchases.js';

const service = await openForAll({ modules: [PurchasesModule], ...UNLIMITED, database: 'file' });

let pet: number;
beforeAll(async () => {
  const { body } = await service.request('POST', '/v1/pets', { json: { name: 'Rex', categoryId: 1 } });
  pet = Number(body.id);
});
beforeEach(async () => {
  await service.repository(PurchaseLine).clear();
  await service.repository(Purchase).deleteAll();
});

const NOTHING = '9223372036854775807';
const line = (more = '', petId: number | string = pet) => `{"petId":${petId},"priceCents":500${more}}`;
const buy = (lines: string) =>
  service.request('POST', '/v1/purchases', { json: `{"customer":"Ada","lines":${lines}}` });
const rows = async () => [
  await service.repository(Purchase).count(),
  await service.repository(PurchaseLine).count(),
];

it('a body with lines is stored as rows of two tables', async () => {
  const { status, body } = await buy(`[${line()},${line()}]`);
  const lines = [pet, pet].map((petId) => ({ petId, priceCents: 500 }));
  expect([status, body]).toMatchObject([201, { customer: 'Ada', lines }]);
  expect(await rows()).toEqual([1, 2]);
});

describe('an error in a line', () => {
  it.each([
    [() => `[${line()},${line().replace('500', '"5"')}]`, ['lines.1.priceCents not_an_integer']],
    [() => `[${line()},${line().replace('500', '-1')}]`, ['lines.1.priceCents out_of_range']],
    [() => `[{"petId":1.5},${line()}]`, ['lines.0.petId not_an_integer', 'lines.0.priceCents required']],
    [() => `[${line()},${line(',"color":"red"')}]`, ['lines.1.color unknown_field']],
    [() => '[]', ['lines array_min_size']],
    [() => `[${Array.from({ length: 101 }, () => line()).join(',')}]`, ['lines array_max_size']],
    [() => `[${line()},null]`, ['lines is_object', 'lines.1 nested_validation']],
    [() => `[${line()},[]]`, ['lines is_object']],
    [() => `[${line()},"x"]`, undefined],
    [() => `[[${line()}]]`, undefined],
    [() => '{}', undefined],
    [() => '"x"', undefined],
    [() => 'null', undefined],
  ])('is named by its path: %#', async (lines, faults) => {
    const response = await buy(lines());
    expect(response.status).toBe(400);
    if (faults) expect(faultsOf(response)).toEqual(faults);
    else expect(String(faultsOf(response))).toContain('lines');
    expect(await rows()).toEqual([0, 0]);
  });

  it('is a reference to nothing, of each line that has one, and nothing is stored', async () => {
    const response = await buy(`[${line()},${line('', NOTHING)},${line()},${line('', -1)}]`);
    expect([response.status, response.body.details]).toMatchObject([
      400,
      [
        {
          field: 'lines.1.petId',
          code: 'unknown_reference',
          message: `No resource has the id ${NOTHING}.`,
        },
        { field: 'lines.3.petId', code: 'unknown_reference' },
      ],
    ]);
    expect(await rows()).toEqual([0, 0]);
  });
});

it('the lines are documented with their bounds', () => {
  const schemas = service.document.components?.schemas as Record<string, object>;
  expect(schemas['NewPurchase']).toMatchObject({
    required: ['customer', 'lines'],
    properties: {
      lines: { type: 'array', items: { $ref: '#/components/schemas/LineDto' }, minItems: 1, maxItems: 100 },
    },
  });
});
