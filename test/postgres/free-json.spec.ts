import { Body, Controller, Get, Module, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { InjectRepository } from '@nestjs/typeorm';
import { Type } from 'class-transformer';
import { IsDefined, IsObject, IsOptional, ValidateNested } from 'class-validator';
import { Column, Entity, Index, type Repository } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { Int64Key } from '../../src/database/int64.js';
import { JsonRows, type JsonText } from '../../src/database/json-rows.js';
import { PageQuery, Paged, type Pager } from '../../src/http/paging/pager.js';
import { Filter, Sort } from '../../src/http/paging/selection.decorators.js';
import { type FieldOptions, defineField } from '../../src/http/validation/define-field.js';
import { CalendarDate, Double, Int64 } from '../../src/http/validation/fields.js';
import { MergePatch } from '../../src/http/validation/merge-patch.js';
import { addedTable } from '../support/added-table.js';
import { described } from '../support/described.js';
import { UNLIMITED, openForAll } from '../support/opened.js';

@Entity('readings')
@Index('readings_weight', ['weight', 'id'])
@Index('readings_day', ['day', 'id'])
class Reading {
  @Int64Key()
  id!: bigint;

  @Column('simple-json', { nullable: true })
  meta!: object | null;

  @Column('double precision')
  weight!: number;

  @Column('varchar', { length: 10 })
  day!: string;
}

const Json = (options: FieldOptions<object>) =>
  defineField<object, object>(
    {
      schema: { type: 'object', additionalProperties: true },
      code: 'not_an_object',
      mustBe: 'an object',
      parse: (sent) => (typeof sent === 'object' && sent !== null ? sent : undefined),
    },
    options,
  );

class NewReading {
  @Json({ optional: true, nullable: true })
  meta?: object | null;

  @Double({ minimum: -5, maximum: 1e9, default: 1.5 })
  weight!: number;

  @CalendarDate({ minimum: '2000-01-01', default: '2026-11-20' })
  day!: string;
}

class ReadingDto extends NewReading {
  @Int64()
  id!: bigint;
}

class RowDto {
  @Int64()
  id!: bigint;

  @Double()
  weight!: number;

  @CalendarDate()
  day!: string;
}

class ReadingPatch extends MergePatch(NewReading) {}

class Inner {
  @Int64({ optional: true })
  id?: bigint;

  @IsOptional()
  @ApiPropertyOptional()
  any?: unknown;
}

/** Of class-validator. */
class PlainReading {
  @IsObject()
  @IsOptional()
  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  meta?: object;

  @IsOptional()
  @ApiPropertyOptional()
  any?: unknown;

  @IsDefined()
  @ValidateNested()
  @Type(() => Inner)
  @ApiProperty()
  inner!: Inner;
}

class ListReadings extends PageQuery {
  @Filter({ property: 'weight', comparison: '>=' })
  @Double({ optional: true })
  from?: number;

  @Filter()
  @CalendarDate({ optional: true })
  day?: string;

  @Filter({ property: 'day', comparison: '<' })
  @CalendarDate({ optional: true })
  before?: string;

  @Sort({ by: ['weight', '-day'] })
  sort?: string;
}

class ReadingParams {
  @Int64()
  id!: bigint;
}

@Controller({ path: 'readings', version: '1' })
@RequireScopes()
class ReadingsController {
  constructor(
    @InjectRepository(Reading) private readonly readings: Repository<Reading>,
    private readonly rows: JsonRows,
  ) {}

  @Get()
  @described('listReadings', { arrayOf: RowDto, schemaName: 'Readings' })
  list(@Query() query: ListReadings, @Paged() pager: Pager): Promise<JsonText<RowDto[]>> {
    return pager.respond(query, (page) => this.rows.page(Reading, RowDto, page));
  }

  @Post()
  @described('addReading', { status: 201, type: ReadingDto })
  async add(@Body() { meta = null, weight, day }: NewReading): Promise<Reading> {
    const { id } = await this.readings.save({ meta, weight, day });
    return this.readings.findOneByOrFail({ id });
  }

  @Patch(':id')
  @described('patchReading', { type: ReadingDto })
  async patch(@Param() { id }: ReadingParams, @Body() patch: ReadingPatch): Promise<Reading> {
    await this.readings.update({ id }, patch);
    return this.readings.findOneByOrFail({ id });
  }

  @Post('plain')
  @described('addPlain', { status: 201, type: ReadingDto })
  async addPlain(@Body() { meta, any, inner }: PlainReading): Promise<Reading> {
    const row = { meta: { meta, any, inner: inner.any }, weight: 1, day: '2026-11-20' };
    const { id } = await this.readings.save(row);
    return this.readings.findOneByOrFail({ id });
  }
}

@Module({ imports: [addedTable(Reading)], controllers: [ReadingsController] })
class ReadingsModule {}

const service = await openForAll({ modules: [ReadingsModule], ...UNLIMITED, database: 'file' });

const post = (json: string, path = '') => service.request('POST', `/v1/readings${path}`, { json });
const LOST = [
  '9007199254740993',
  '9223372036854775808',
  '-9007199254740993',
  '1e400',
  '9007199254740993.0',
  '1e-400',
];

describe('free JSON', () => {
  it.each(LOST)('with %s is refused, wherever it is, by every kind of class', async (number) => {
    const fault = (field: string) => ({ field, code: 'inexact_number' });
    const faults = async (json: string, path: string) => {
      const { status, body } = await post(json, path);
      expect(status).toBe(400);
      return body.details;
    };
    expect(await faults(`{"meta":{"a":[{"b":${number}}],"c":${number}}}`, '')).toMatchObject([
      fault('meta.a.0.b'),
      fault('meta.c'),
    ]);
    const plain = `{"meta":{"a":[${number}]},"any":${number},"inner":{"any":{"b":${number}},"id":9007199254740993}}`;
    expect(await faults(plain, '/plain')).toMatchObject([
      fault('meta.a.0'),
      fault('any'),
      fault('inner.any.b'),
    ]);
    const { status, body } = await service.request('PATCH', '/v1/readings/1', {
      json: `{"meta":{"a":${number}}}`,
    });
    expect([status, body.details]).toMatchObject([400, [fault('meta.a')]]);
  });

  it('keeps every other number', async () => {
    const meta = '{"a":9007199254740991,"b":[0.1,1e300,-0.5],"c":{"d":1e16,"e":1.10,"f":-0}}';
    const { status, body } = await post(`{"meta":${meta}}`);
    const stored = { a: 9007199254740991, b: [0.1, 1e300, -0.5], c: { d: 1e16, e: 1.1, f: 0 } };
    expect([status, body.meta]).toEqual([201, stored]);
    expect((await post(`{"meta":${meta},"inner":{}}`, '/plain')).body.meta.meta).toEqual(stored);
  });
});

describe('a double and a date', () => {
  it.each([
    ['weight', '"1.5"', 'not_a_number'],
    ['weight', '1e400', 'not_a_number'],
    ['weight', 'true', 'not_a_number'],
    ['weight', '-5.01', 'out_of_range'],
    ['weight', '1e10', 'out_of_range'],
    ['day', '"2027-02-29"', 'not_a_date'],
    ['day', '"2026-13-01"', 'not_a_date'],
    ['day', '"2026-1-01"', 'not_a_date'],
    ['day', '"2026-11-20T00:00:00Z"', 'not_a_date'],
    ['day', '20261120', 'not_a_date'],
    ['day', '"1999-12-31"', 'out_of_range'],
  ])('is refused: %s %s', async (field, value, code) => {
    const { status, body } = await post(`{"${field}":${value}}`);
    expect([status, body.details]).toMatchObject([400, [{ field, code }]]);
  });

  it.each([
    ['0.1', 0.1],
    ['-0', 0],
    ['-0.0', 0],
    ['2', 2],
    ['1e-7', 1e-7],
    ['123456789.12345678', 123456789.12345678],
  ])('is stored as it was sent: %s', async (sent, weight) => {
    const { status, body } = await post(`{"weight":${sent},"day":"2028-02-29"}`);
    expect([status, body]).toMatchObject([201, { weight, day: '2028-02-29' }]);
    expect(Object.is(body.weight, -0)).toBe(false);
    const found = await service.repository(Reading).findOneByOrFail({ id: BigInt(body.id) });
    expect([found.weight, found.day]).toEqual([weight, '2028-02-29']);
  });

  it('filters and orders lists', async () => {
    await service.repository(Reading).clear();
    for (const [weight, day] of [
      [1.5, '2026-11-20'],
      [0.5, '2026-11-21'],
      [2.5, '2026-11-19'],
    ])
      await post(JSON.stringify({ weight, day }));
    const weights = async (query: string) =>
      (await service.everyPage(`/v1/readings?limit=1&${query}`)).map(({ weight }) => weight);
    expect(await weights('from=1e0')).toEqual([1.5, 2.5]);
    expect(await weights('day=2026-11-21')).toEqual([0.5]);
    expect(await weights('before=2026-11-21')).toEqual([2.5, 1.5]);
    expect(await weights('sort=-day')).toEqual([0.5, 1.5, 2.5]);
    for (const wrong of ['from=1e400', 'from=NaN', 'from=01', 'day=2027-02-29'])
      expect((await service.request('GET', `/v1/readings?${wrong}`)).status).toBe(400);
  });

  it('is documented with its bounds', () => {
    const schemas = service.document.components?.schemas as Record<string, { properties: object }>;
    expect(schemas['NewReading']?.properties).toMatchObject({
      weight: { type: 'number', format: 'double', minimum: -5, maximum: 1e9, default: 1.5 },
      day: { type: 'string', format: 'date', default: '2026-11-20' },
    });
  });
});
