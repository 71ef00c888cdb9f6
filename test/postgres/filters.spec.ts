import { Module } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Column, DataSource, Entity, Index } from 'typeorm';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { Int64Key } from '../../src/database/int64.js';
import { JsonRows } from '../../src/database/json-rows.js';
import type { Position } from '../../src/database/keyset-page.js';
import { addedTable } from '../support/added-table.js';
import { Visit, VisitDto, VisitsModule } from '../support/visits.js';
import { UNLIMITED, openForAll } from '../support/opened.js';

@Entity('weighings')
@Index('weighings_kilograms', ['kilograms', 'id'])
@Index('weighings_is_tare', ['isTare', 'id'])
class Weighing {
  @Int64Key()
  id!: bigint;

  @Column('double precision')
  kilograms!: number;

  @Column('boolean', { name: 'is_tare' })
  isTare!: boolean;

  @Column('double precision', { nullable: true })
  fee!: number | null;

  @Column('boolean', { name: 'is_paid', nullable: true })
  isPaid!: boolean | null;
}

class WeighingDto {
  @ApiProperty()
  kilograms!: number;

  @ApiProperty()
  isTare!: boolean;

  @ApiProperty()
  fee!: number | null;

  @ApiProperty()
  isPaid!: boolean | null;
}

@Module({ imports: [addedTable(Weighing)] })
class WeighingsModule {}

const service = await openForAll({
  modules: [VisitsModule, WeighingsModule],
  ...UNLIMITED,
  database: 'file',
});

const DAY = '2026-01-01T00:00:00.000Z';
const STATES = ['requested', 'confirmed', 'done'] as const;

const REASONS = [
  'a',
  'ab',
  'aB',
  'a%',
  'a_',
  'b',
  'ä',
  'a\u{10ffff}',
  '😀',
  '😀x',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '\u{10ffff}',
];

type Row = Omit<Visit, 'id' | 'deletedAt' | 'note'>;

async function store(rows: readonly Row[]): Promise<void> {
  const visits = service.app.get(DataSource).getRepository(Visit);
  await visits.clear();
  await visits.insert(rows.map((row) => ({ ...row, note: null })));
}

/** The ids of all pages that follow one another. */
async function everyPage(target: string): Promise<{ ids: number[]; pages: number }> {
  const ids: number[] = [];
  let pages = 0;
  for (let next: string | undefined = target; next !== undefined; pages += 1) {
    const { status, body, headers } = await service.request('GET', next);
    expect(status, next).toBe(200);
    ids.push(...(body as { id: number }[]).map(({ id }) => id));
    next = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  return { ids, pages };
}

const row: fc.Arbitrary<Row> = fc.record({
  reason: fc.constantFrom(...REASONS),
  state: fc.constantFrom(...STATES),
  startsAt: fc.constantFrom(DAY, '2026-01-01T00:00:00.001Z', '2026-06-01T12:00:00.000Z'),
  priceCents: fc.constantFrom(-1n, 0n, 2n ** 53n + 1n, 2n ** 53n + 2n, 2n ** 63n - 1n, -(2n ** 63n)),
});

const filters = fc.record(
  {
    state: fc.uniqueArray(fc.constantFrom(...STATES), { minLength: 1 }),
    range: fc.constantFrom(
      { startsFrom: '2026-01-01T00:00:00Z' },
      { startsFrom: '2026-01-01T00:00:00.001Z', startsBefore: '2026-06-01T12:00:00Z' },
      { maxPriceCents: String(2n ** 53n + 1n) },
      { reasonPrefix: 'a' },
      { reasonPrefix: 'a%' },
      { reasonPrefix: 'a_' },
      { reasonPrefix: '😀' },
      { reasonPrefix: '\ud7ff' },
      { reasonPrefix: 'a\u{10ffff}' },
      { reasonPrefix: '\uffff' },
      { reasonPrefix: '\u{10ffff}' },
      {},
    ),
    isDescending: fc.boolean(),
    sort: fc.constantFrom('startsAt', 'priceCents', 'id'),
  },
  { requiredKeys: ['range', 'isDescending'] },
);
type Filters = typeof filters extends fc.Arbitrary<infer T> ? T : never;
type Range = Partial<Record<'startsFrom' | 'startsBefore' | 'maxPriceCents' | 'reasonPrefix', string>>;

/** The same, as anyone would do it with an array. */
function selected(rows: readonly (Row & { id: number })[], { state, range }: Filters): typeof rows {
  const { startsFrom, startsBefore, maxPriceCents, reasonPrefix } = range as Range;
  return rows.filter(
    (one) =>
      (!state || state.includes(one.state)) &&
      (startsFrom === undefined || Date.parse(one.startsAt) >= Date.parse(startsFrom)) &&
      (startsBefore === undefined || Date.parse(one.startsAt) < Date.parse(startsBefore)) &&
      (maxPriceCents === undefined || one.priceCents <= BigInt(maxPriceCents)) &&
      (reasonPrefix === undefined || one.reason.startsWith(reasonPrefix)),
  );
}

const PROPERTY_OF: Record<keyof Range, 'startsAt' | 'priceCents' | 'reason'> = {
  startsFrom: 'startsAt',
  startsBefore: 'startsAt',
  maxPriceCents: 'priceCents',
  reasonPrefix: 'reason',
};

function compared(a: bigint | string | number, b: bigint | string | number): number {
  // By code points, not by the halves of surrogate pairs.
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(String(b)));
  const [one, other] = [BigInt(a), BigInt(b)];
  return one < other ? -1 : Number(one > other);
}

/** Each order over three pages, which a random case seldom is. */
const ORDERS = (['startsAt', 'priceCents', 'id'] as const).flatMap((sort) =>
  [true, false].map((isDescending): [Row[], Filters, number] => [
    Array.from({ length: 5 }, (_, at): Row => ({
      reason: 'a',
      state: 'done',
      startsAt: DAY,
      priceCents: BigInt(at % 2),
    })),
    { range: {}, isDescending, sort },
    2,
  ]),
);

describe('a list with declared filters and orders', () => {
  it('has what the filters select, in the order, page by page, each row once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 14 }),
        filters,
        fc.integer({ min: 1, max: 5 }),
        async (rows, chosen, limit) => {
          await store(rows);
          const { body } = await service.request('GET', '/v1/visits?limit=100');
          const first = (body as { id: number }[])[0]?.id ?? 0;
          const numbered = rows.map((one, index) => ({ ...one, id: first + index }));
          const { state, range, isDescending } = chosen;
          const [ranged] = Object.keys(range) as (keyof Range)[];
          const by = ranged === undefined ? chosen.sort : PROPERTY_OF[ranged];
          // By reason there is no declared order, and by id only the descending one is.
          const sends = by !== undefined && by !== 'reason' && !(by === 'id' && !isDescending);
          const direction = isDescending && sends ? -1 : 1;
          const property = by ?? 'id';
          const expected = selected(numbered, chosen).toSorted(
            (a, b) => direction * (compared(a[property], b[property]) || a.id - b.id),
          );
          const query = new URLSearchParams({ ...(range as Record<string, string>), limit: String(limit) });
          if (state) query.set('state', state.join(','));
          if (sends) query.set('sort', `${isDescending ? '-' : ''}${by}`);
          const { ids, pages } = await everyPage(`/v1/visits?${query.toString()}`);
          expect(ids).toEqual(expected.map(({ id }) => id));
          expect(pages).toBe(Math.max(1, Math.ceil(expected.length / limit)));
        },
      ),
      { numRuns: 60, examples: ORDERS },
    );
  });

  it.each([
    ['state=lost', 'state', 'not_allowed_value'],
    ['state=', 'state', 'not_allowed_value'],
    ['state=done,', 'state', 'not_allowed_value'],
    ['state=done&state=requested', 'state', 'not_allowed_value'],
    ['sort=reason', 'sort', 'not_allowed_value'],
    ['sort=startsAt&sort=-startsAt', 'sort', 'not_allowed_value'],
    ['startsFrom=yesterday', 'startsFrom', 'not_an_instant'],
    ['startsFrom=2026-02-30T00:00:00Z', 'startsFrom', 'not_an_instant'],
    ['startsFrom=2026-02-28T24:00:00Z', 'startsFrom', 'not_an_instant'],
    ['maxPriceCents=9223372036854775808', 'maxPriceCents', 'out_of_range'],
    ['reasonPrefix=', 'reasonPrefix', 'blank'],
    ['reasonPrefix=%00a', 'reasonPrefix', 'forbidden_character'],
    ['State=done', 'State', 'misspelled_parameter'],
    ['startsFrom=2026-01-01T00:00:00Z&sort=priceCents', 'sort', 'conflicting_sort'],
    ['reasonPrefix=a&sort=startsAt', 'sort', 'conflicting_sort'],
    ['startsFrom=2026-01-01T00:00:00Z&reasonPrefix=a', 'reasonPrefix', 'conflicting_filter'],
  ])('refuses %s: %s %s', async (query, field, code) => {
    const { status, body } = await service.request('GET', `/v1/visits?${query}`);
    expect([
      status,
      body.details.map((one: { field: string; code: string }) => [one.field, one.code]),
    ]).toEqual([400, [[field, code]]]);
  });

  it('has what two lists of 16 values select, on each page', async () => {
    const reasons = Array.from({ length: 16 }, (_, at) => `reason ${at}`);
    await store(reasons.map((reason) => ({ reason, state: 'done', startsAt: DAY, priceCents: 1n })));
    const read: unknown[] = [];
    let after: Position | undefined;
    do {
      const { items, next } = await service.app.get(JsonRows).page(Visit, VisitDto, {
        limit: 7,
        order: { property: 'startsAt', isDescending: false },
        where: [
          { property: 'state', comparison: '=', value: ['done', ...reasons.slice(1)] },
          { property: 'reason', comparison: '=', value: reasons },
        ],
        ...(after ? { after } : {}),
      });
      read.push(...(JSON.parse(items.text) as VisitDto[]).map(({ reason }) => reason));
      after = next;
    } while (after);
    expect(read).toEqual(reasons);
  });

  it('says which order a range goes with', async () => {
    const { body } = await service.request('GET', '/v1/visits?maxPriceCents=5&sort=startsAt');
    expect(body.details[0].message).toBe('With maxPriceCents this must be priceCents or -priceCents.');
  });
});

describe('a list that is not ordered by text', () => {
  const list = (property: string, isDescending: boolean, after?: Position) =>
    service.app.get(JsonRows).page(Weighing, WeighingDto, {
      limit: 1,
      order: { property, isDescending },
      ...(after ? { after } : {}),
    });

  it.each([
    ['kilograms', false],
    ['kilograms', true],
    ['isTare', false],
    ['isTare', true],
  ] as const)('has each row once: by %s, descending: %s', async (property, isDescending) => {
    const numbers = [0.1 + 0.2, 0.3, 2 / 3, -1.5, 0.1 + 0.2, 4, 123_456_789.123_456_79];
    const rows = numbers.map((kilograms) => ({ kilograms, isTare: kilograms > 0.3 }));
    const weighings = service.app.get(DataSource).getRepository(Weighing);
    await weighings.clear();
    await weighings.insert(rows);
    const read: unknown[] = [];
    let after: Position | undefined;
    do {
      const { items, next } = await list(property, isDescending, after);
      read.push(...(JSON.parse(items.text) as Weighing[]).map((one) => one[property]));
      after = next;
    } while (after && read.length <= rows.length);
    const sorted = rows.map((one) => one[property]).toSorted((a, b) => Number(a) - Number(b));
    expect(read).toEqual(isDescending ? sorted.toReversed() : sorted);
  });

  it('shows each value as JSON.stringify() does, so that its entity tag is that of the response to a write', async () => {
    const weighings = service.app.get(DataSource).getRepository(Weighing);
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    const flag = fc.boolean();
    const shown = fc.record({
      kilograms: number,
      isTare: flag,
      fee: fc.option(number),
      isPaid: fc.option(flag),
    });
    const numbers = [
      -3.163453490085246e197,
      0,
      -0,
      1,
      0.1 + 0.2,
      5e-324,
      1e-5,
      1e-7,
      1e15,
      1e16,
      1e21,
      Number.MAX_VALUE,
    ];
    const examples = numbers.map((fee) => ({ kilograms: fee, isTare: true, fee, isPaid: null }));
    await fc.assert(
      fc.asyncProperty(fc.array(shown, { minLength: 1 }), async (rows) => {
        await weighings.clear();
        await weighings.insert(structuredClone(rows));
        const { items } = await service.app.get(JsonRows).page(Weighing, WeighingDto, { limit: 100 });
        expect(items.text).toBe(JSON.stringify(rows));
      }),
      { numRuns: 30, examples: [[examples]] },
    );
  });

  it('refuses the position of no number', async () => {
    await expect(list('kilograms', false, ['x', '1'])).rejects.toMatchObject({ status: 400 });
  });
});

describe('a cursor', () => {
  beforeEach(() =>
    store(
      STATES.flatMap((state) =>
        [1n, 2n].map((priceCents) => ({ reason: 'a b', state, startsAt: DAY, priceCents })),
      ),
    ),
  );

  it.each([
    'sort=-startsAt',
    'sort=priceCents',
    'state=done',
    'state=requested,done',
    '',
    'sort=startsAt&state=done',
  ])('of sort=startsAt is refused with %s', async (other) => {
    const { headers } = await service.request('GET', '/v1/visits?limit=1&sort=startsAt');
    const cursor = /cursor=([^>&]*)/.exec(headers.get('link') ?? '')?.[1];
    const { status, body } = await service.request('GET', `/v1/visits?limit=1&${other}&cursor=${cursor}`);
    expect([status, body.details?.[0].code]).toEqual([400, 'broken_cursor']);
  });

  it('continues after its row although rows before it are added and removed in the meantime', async () => {
    const visits = service.app.get(DataSource).getRepository(Visit);
    const { body, headers } = await service.request('GET', '/v1/visits?limit=2&sort=-priceCents');
    const next = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? '';
    await visits.delete({ id: BigInt(body[1].id) });
    await visits.insert({ reason: 'x', note: null, state: 'done', startsAt: DAY, priceCents: 9n });
    const rest = await everyPage(next);
    expect(rest.ids).toHaveLength(4);
    expect(rest.ids).not.toContain(body[0].id);
  });
});

describe('soft deletion', () => {
  it('leaves a row out of lists with any filter and order, until it is restored', async () => {
    const one: Row = { reason: 'a', state: 'done', startsAt: DAY, priceCents: 1n };
    await store([one, one, one]);
    const visits = service.app.get(DataSource).getRepository(Visit);
    const { ids } = await everyPage('/v1/visits');
    const [first = 0, second = 0, third = 0] = ids;
    await visits.softDelete({ id: BigInt(second) });
    for (const query of [
      '',
      '?sort=-startsAt',
      '?state=done,requested',
      '?limit=1',
      '?reasonPrefix=a&limit=1',
    ])
      expect((await everyPage(`/v1/visits${query}`)).ids.toSorted((a, b) => a - b)).toEqual([first, third]);
    expect((await service.request('GET', `/v1/visits/${second}`)).status).toBe(404);
    await visits.restore({ id: BigInt(second) });
    expect((await service.request('GET', `/v1/visits/${second}`)).status).toBe(200);
  });
});

describe('the OpenAPI document', () => {
  it('has every filter and the orders', () => {
    const parameters = service.document.paths['/visits']?.get?.parameters as { name: string }[];
    const of = (wanted: string) => parameters.find(({ name }) => name === wanted);
    expect(of('state')).toMatchObject({
      in: 'query',
      required: false,
      style: 'form',
      explode: false,
      schema: { type: 'array', maxItems: 16, items: { type: 'string', enum: [...STATES] } },
    });
    expect(of('sort')).toMatchObject({
      required: false,
      schema: { type: 'string', enum: ['startsAt', '-startsAt', 'priceCents', '-priceCents', '-id'] },
    });
    expect(of('startsFrom')).toMatchObject({ schema: { type: 'string', format: 'date-time' } });
    expect(of('maxPriceCents')).toMatchObject({ schema: { type: 'integer', format: 'int64' } });
  });
});
