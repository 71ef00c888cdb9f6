import { type ArgumentMetadata, ValidationPipe as NestValidationPipe } from '@nestjs/common';
import { Exclude, Expose, Transform, Type } from 'class-transformer';
import {
  IsDate,
  IsDefined,
  IsInt,
  IsOptional,
  IsString,
  MaxLength,
  Validate,
  ValidateNested,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LinearPipe, PlainNumbersPipe } from './linear-pipe.js';
import { FROM_TEXT } from './define-field.js';
import { Enum, Int64, Integer, Text } from './fields.js';
import { JsonDecimal } from '../body/exact-json.js';

class Inner {
  @IsString()
  text: unknown;
}

class Fields {
  @Text({ maxLength: 3 })
  name!: string;

  @Int64({ default: 2 })
  categoryId!: bigint;

  @Integer({ minimum: 1, maximum: 9, optional: true })
  count?: number;

  @Enum({ enumName: 'Kind', values: ['a', 'b'], optional: true, list: true })
  kind?: string[];
}

class Plain {
  @IsString()
  @MaxLength(3)
  name: unknown;

  @IsOptional()
  @IsInt()
  @Type(() => Number)
  count: unknown;

  @IsOptional()
  @IsDate()
  @Type(() => Date)
  given: unknown;

  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.split(',') : value))
  kind: unknown = 'its own';

  get shown(): string {
    return 'computed';
  }
}

class Nested {
  @IsDefined()
  @ValidateNested()
  @Type(() => Inner)
  name: unknown;
}

/** Of members that class-transformer renames, hides and changes; some have no rule. */
class Declared {
  @IsString()
  @Expose({ name: 'text' })
  shown: unknown;

  @Exclude()
  hidden: unknown;

  @Transform(({ obj }: { obj: Record<string, unknown> }) => obj.other)
  changed: unknown;

  initial = 'its own';
}

class Holding {
  @IsOptional()
  @ValidateNested()
  @Type(() => Declared)
  name: unknown;

  @IsOptional()
  @Type(() => Declared)
  kind: unknown;
}

@ValidatorConstraint({ async: true })
class SlowlyShort implements ValidatorConstraintInterface {
  validate(value: unknown): Promise<boolean> {
    return Promise.resolve(typeof value === 'string' && value.length < 3);
  }
}

class Asynchronous {
  @Validate(SlowlyShort)
  name: unknown;
}

/** Of a name that Nest removes. */
class Removed {
  @IsOptional()
  @IsString()
  prototype: unknown;
}

class WithoutRules {
  name: unknown;
}

const CLASSES = { Fields, Plain, Nested, Holding, Asynchronous, Removed, WithoutRules, Object, String };
const NAMES = [
  'name',
  'name',
  'name',
  'categoryId',
  'count',
  'kind',
  'given',
  'shown',
  'unknown',
  '__proto__',
  'constructor',
  'prototype',
];

const sparse = (): unknown[] => Object.assign([], { 2: 'a' });
const member = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(
      undefined,
      null,
      '',
      'a',
      'abcd',
      '1',
      'a,b',
      1,
      9,
      1.5,
      -0,
      1n,
      true,
      '2026-11-23',
    ),
  },
  // Made anew: Nest changes what it is given.
  fc
    .constantFrom<() => unknown>(
      sparse,
      () => ['a'],
      () => ({}),
      () => ({ text: 'a' }),
      () => ({ text: 'a', hidden: 'b' }),
      () => [{ text: 'a', other: [{ text: 1 }], initial: 'b' }],
      () => ({ changed: 'a', text: 'b' }),
      () => ({ constructor: 1 }),
      () => new Inner(),
      () => new Date(0),
      () => Buffer.from('a'),
      () => new JsonDecimal('1.50'),
      () => () => 'a',
    )
    .map((make) => make()),
);

/** Values that the rules accept. */
const ACCEPTED = new Map<string, unknown[]>([
  ['name', ['a', 'ab']],
  ['categoryId', [1, '1']],
  ['count', [2, '2']],
  ['kind', ['a', 'a,b']],
  ['given', ['2026-11-23']],
  ['prototype', ['a']],
]);

/** A member, mostly one of a class above that its rules accept. */
const named = fc.constantFrom(...NAMES).chain((name) => {
  const accepted = ACCEPTED.get(name) ?? [];
  return fc.tuple(
    fc.constant(name),
    accepted.length === 0
      ? member
      : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...accepted) }, { weight: 1, arbitrary: member }),
  );
});

/** Objects as JSON makes them, with any names at all, and as queries are, without a prototype. */
const objects = fc
  .tuple(fc.uniqueArray(named, { selector: ([name]) => name, maxLength: 5 }), fc.boolean())
  .map(([members, hasPrototype]) => {
    const made = (hasPrototype ? {} : Object.create(null)) as object;
    for (const [name, value] of members)
      Object.defineProperty(made, name, { value, enumerable: true, writable: true, configurable: true });
    return made;
  });
const values = fc.oneof(
  { weight: 9, arbitrary: objects },
  fc.constantFrom<unknown>(undefined, null, '', 'a', 1, true, [], ['a'], new Inner(), Buffer.from('a')),
);

const OPTIONS = {
  'for parameters': { transform: true, whitelist: true, transformOptions: FROM_TEXT },
  'for bodies': { transform: true, whitelist: true, forbidNonWhitelisted: true },
};

/** What a pipe makes of a value: the value, or what it refuses. */
async function outcomeOf(
  pipe: NestValidationPipe,
  value: unknown,
  metadata: ArgumentMetadata,
): Promise<unknown> {
  try {
    return { made: await pipe.transform(value, metadata) };
  } catch (error) {
    return {
      refused:
        error instanceof Error && 'getResponse' in error
          ? (error as { getResponse(): unknown }).getResponse()
          : error,
    };
  }
}

describe('the compiled pipe', () => {
  it.each(
    Object.entries(OPTIONS).flatMap(([kind, options]) =>
      Object.entries(CLASSES).map(([name, metatype]) => ({ kind, options, name, metatype })),
    ),
  )('answers $kind what Nest’s own pipe answers of $name', async ({ options, metatype }) => {
    const [compiled, nest] = [new LinearPipe(options), new NestValidationPipe(options)];
    await fc.assert(
      fc.asyncProperty(
        values,
        fc.constantFrom<ArgumentMetadata['type']>('body', 'query', 'param', 'custom'),
        async (value, type) => {
          const metadata = { type, metatype };
          // Nest removes names from what it is given.
          const [ours, theirs] = [copyOf(value), copyOf(value)];
          const made = await outcomeOf(compiled, ours, metadata);
          expect(made).toStrictEqual(await outcomeOf(nest, theirs, metadata));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('makes numbers of decimals before the rules of a body, in a flat one and within another', async () => {
    class Made {
      @IsInt()
      @Transform(() => new JsonDecimal('2.0'))
      count: unknown;
    }
    const pipe = new PlainNumbersPipe(OPTIONS['for bodies']);
    const metadata = { type: 'body', metatype: Made } as const;
    for (const count of [1, new JsonDecimal('2.0')])
      expect(await pipe.transform({ count }, metadata)).toStrictEqual(
        Object.assign(new Made(), { count: 2 }),
      );
  });
});

/** Another object with the same members. */
function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || ArrayBuffer.isView(value))
    return value;
  return Object.create(
    Object.getPrototypeOf(value) as object | null,
    Object.getOwnPropertyDescriptors(value),
  ) as unknown;
}
