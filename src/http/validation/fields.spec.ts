import type { ArgumentMetadata } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsInt } from 'class-validator';
import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../core/errors/api-error.js';
import { JsonDecimal } from '../../core/exact-json.js';
import { Duration, Enum, Flag, Instant, Int64, Integer, StringList, Text, Uuid } from './fields.js';
import { ValidationPipe } from './validation.pipe.js';

const UUID = '0b0a6f2d-5b0f-4c0e-9d2c-6d8ab0a4a6cf';

/** A field of every kind, for bodies and queries. */
class Everything {
  @Text({ maxLength: 3, optional: true })
  text?: string;

  @Int64({ optional: true })
  int64?: bigint;

  @Integer({ minimum: 1, maximum: 9, optional: true })
  integer?: number;

  @Enum({ enumName: 'Size', values: ['small', 'large'], optional: true })
  size?: string;

  @Flag({ optional: true })
  flag?: boolean;

  @Duration({ optional: true })
  duration?: number;

  @Instant({ optional: true })
  instant?: string;

  @Uuid({ optional: true })
  uuid?: string;

  @StringList({ optional: true })
  names?: string[];
}

class Nullable {
  @Int64({ nullable: true, default: 7 })
  int64!: bigint | null;

  @Instant({ nullable: true })
  instant!: string | null;
}

class Few {
  @StringList({ maxItems: 2 })
  names!: string[];
}

/** The parsed value, or its errors by field. */
async function read(type: ArgumentMetadata['type'], value: object, metatype: new () => object = Everything) {
  try {
    return { ...((await new ValidationPipe().transform(value, { type, metatype })) as object) };
  } catch (error) {
    return (error as ApiError).faults.map(({ field, code, message }) => `${field} ${code}: ${message}`);
  }
}

describe('a field', () => {
  it.each([
    ['text', 'abc', 'abc', 'abc'],
    ['int64', 5, '5', 5n],
    ['int64', 2n ** 63n - 1n, '9223372036854775807', 2n ** 63n - 1n],
    ['integer', 5, '5', 5],
    ['size', 'small', 'small', 'small'],
    ['flag', true, 'true', true],
    ['flag', false, 'false', false],
    ['duration', '2m', '2m', 120_000],
    ['instant', '2026-11-20T12:00:00Z', '2026-11-20T12:00:00Z', '2026-11-20T12:00:00.000Z'],
    ['uuid', UUID, UUID, UUID],
  ])('%s is read from JSON and from text by one decorator: %o, %o', async (field, json, text, value) => {
    expect(await read('body', { [field]: json })).toEqual({ [field]: value });
    for (const type of ['query', 'param'] as const)
      expect(await read(type, { [field]: text })).toEqual({ [field]: value });
  });

  it.each([
    ['body', 'text', 5, 'not_a_string: This must be a string.'],
    ['body', 'int64', '5', 'not_an_integer: This must be an integer.'],
    ['query', 'int64', '05', 'not_an_integer: This must be an integer in decimal.'],
    ['body', 'integer', '5', 'not_an_integer: This must be an integer.'],
    [
      'query',
      'integer',
      '1e1',
      'not_an_integer: This must be one integer in decimal, without sign or leading zeros.',
    ],
    ['query', 'integer', '9'.repeat(30), 'out_of_range: This must be from 1 to 9.'],
    ['body', 'size', 'huge', 'not_allowed_value: This must be one of small, large.'],
    ['body', 'flag', 'true', 'not_a_flag: This must be true or false.'],
    ['query', 'flag', 'TRUE', 'not_a_flag: This must be true or false.'],
    ['body', 'duration', 90, /^duration not_a_duration: This must be a duration such as/],
    ['body', 'duration', '0', /^duration not_a_duration: /],
    ['body', 'instant', '2026-13-20T12:00:00Z', /^instant not_an_instant: This must be an instant in UTC/],
    ['query', 'instant', 'yesterday', /^instant not_an_instant: /],
    ['body', 'uuid', UUID.toUpperCase(), 'not_a_uuid: This must be a UUID in lower case.'],
    ['body', 'names', [], 'not_a_list_of_names: This must be a list of 1 to 100 strings.'],
  ] as const)('of a %s, %s, refuses %o once: %s', async (type, field, sent, error) => {
    const expected = typeof error === 'string' ? `${field} ${error}` : expect.stringMatching(error);
    expect(await read(type, { [field]: sent })).toEqual([expected]);
  });

  it.each(['text', 'int64', 'integer', 'size', 'flag', 'duration', 'instant', 'uuid', 'names'])(
    '%s may be null only if it is nullable',
    async (field) => {
      expect(await read('body', { [field]: null })).toHaveLength(1);
    },
  );

  it('may be null if it is nullable, has its default when absent, and is required otherwise', async () => {
    expect(await read('body', { int64: null, instant: null }, Nullable)).toEqual({
      int64: null,
      instant: null,
    });
    expect(await read('body', { instant: null }, Nullable)).toEqual({ int64: 7n, instant: null });
    expect(await read('body', { int64: 'x', instant: 5 }, Nullable)).toEqual([
      'int64 not_an_integer: This must be an integer or null.',
      expect.stringMatching(/^instant not_an_instant: .* or null\.$/),
    ]);
    expect(await read('body', { int64: 1 }, Nullable)).toEqual(['instant required: This field is required.']);
  });

  it('is a list of at most the declared number of names', async () => {
    const names = ['a', 'b', 'c'];
    expect(await read('body', { names: names.slice(1) }, Few)).toEqual({ names: ['b', 'c'] });
    expect(await read('body', { names }, Few)).toEqual([
      'names not_a_list_of_names: This must be a list of 1 to 2 strings.',
    ]);
  });
});

it('decimals that a transformation makes are numbers before the rules of a body', async () => {
  class Made {
    @IsInt()
    @Transform(() => new JsonDecimal('2.0'))
    count: unknown;
  }
  const parsed = await new ValidationPipe().transform({ count: 1 }, { type: 'body', metatype: Made });
  expect(parsed).toStrictEqual(Object.assign(new Made(), { count: 2 }));
});
