import type { ArgumentMetadata } from '@nestjs/common';
import { OmitType, PartialType } from '@nestjs/swagger';
import { Exclude, Transform } from 'class-transformer';
import { IsString, ValidateIf } from 'class-validator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonDecimal } from '../../core/exact-json.js';
import { Rule } from './define-field.js';
import { FieldTable } from './field-table.js';
import { Enum, Flag, Instant, Int64, Integer, StringList, Text } from './fields.js';
import { MergePatch } from './merge-patch.js';
import { InvalidArgument, ValidationPipe } from './validation.pipe.js';

class Fields {
  @Text({ maxLength: 3 })
  name!: string;

  @Int64({ default: 2 })
  categoryId!: bigint;

  @Integer({ minimum: 1, maximum: 9, optional: true, nullable: true })
  count?: number | null;

  @Enum({ enumName: 'Kind', values: ['a', 'b'], optional: true })
  kind?: string;

  @Flag({ optional: true })
  open?: boolean;

  @Instant({ optional: true })
  at?: string;

  @StringList({ optional: true })
  tags?: string[];

  @Rule('odd', 'This must be odd, or a half of it.', (value) => [undefined, 1, 1.5].includes(value as number))
  only?: unknown;
}

class Listed {
  @Enum({ enumName: 'Kind', values: ['a', 'b'], optional: true, list: true })
  kind?: string[];

  @Text({ maxLength: 3, default: 'all' })
  name = 'initial';
}

class Patch extends MergePatch(Fields) {}
class PatchOfInitial extends MergePatch(Listed) {}
class Partly extends PartialType(OmitType(Fields, ['tags'])) {}
class Conditional extends Fields {
  @ValidateIf(({ count }: Fields) => count === 1)
  declare kind: string;
}

class ConditionalOthers extends Fields {
  @ValidateIf(({ count }: Fields) => count === 1)
  declare kind: string;

  @Exclude()
  never?: unknown;
}

/** The same class with a member that has no rule, so that class-transformer and class-validator process it instead of the table. */
function withoutTable<T extends new () => object>(metatype: T): T {
  class Others extends (metatype as new () => object) {
    never?: unknown;
  }
  Exclude()(Others.prototype, 'never');
  return Others as unknown as T;
}

const CLASSES = [
  ['Fields', Fields, withoutTable(Fields)],
  ['Listed', Listed, withoutTable(Listed)],
  ['a merge patch', Patch, withoutTable(Patch)],
  ['a merge patch of an initializer', PatchOfInitial, withoutTable(PatchOfInitial)],
  ['a part', Partly, withoutTable(Partly)],
  ['Conditional', Conditional, ConditionalOthers],
] as const;

const member = fc.constantFrom<() => unknown>(
  ...[null, '', 'a', 'b', 'abcd', '1', '2', 'a,b', 'a,c', 'true', 1, 2, 9, 10, 1.5, -0, 1n, true].map(
    (value) => () => value,
  ),
  () => '2026-11-23T00:00:00.000Z',
  () => ['a', 'b'],
  () => [1],
  () => ({}),
  () => ({ a: { b: 1 } }),
  () => new JsonDecimal('1.50'),
);
const NAMES = [
  'name',
  'categoryId',
  'count',
  'kind',
  'open',
  'at',
  'tags',
  'only',
  'unknown',
  'Name',
  '__proto__',
];
const members = fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), member), {
  selector: ([name]) => name,
  maxLength: 8,
});

function objectOf(entries: readonly (readonly [string, () => unknown])[], hasPrototype: boolean): object {
  const created = (hasPrototype ? {} : Object.create(null)) as object;
  for (const [name, make] of entries)
    Object.defineProperty(created, name, {
      value: make(),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  return created;
}

const pipe = new ValidationPipe();

/** The pipe's result for a value: its members, or the reported errors. */
async function outcomeOf(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
  try {
    return { made: { ...((await pipe.transform(value, metadata)) as object) } };
  } catch (error) {
    if (error instanceof InvalidArgument) return { faults: error.faults };
    throw error;
  }
}

describe('the table of a class', () => {
  it.each(CLASSES)('reads and refuses as class-validator does: %s', async (_, metatype, other) => {
    expect([FieldTable.of(metatype) !== undefined, FieldTable.of(other) !== undefined]).toEqual([
      true,
      false,
    ]);
    await fc.assert(
      fc.asyncProperty(
        members,
        fc.boolean(),
        fc.constantFrom<ArgumentMetadata['type']>('body', 'query', 'param'),
        async (entries, hasPrototype, type) => {
          const ours = await outcomeOf(objectOf(entries, hasPrototype), { type, metatype });
          const theirs = await outcomeOf(objectOf(entries, hasPrototype), { type, metatype: other });
          expect(ours).toEqual(theirs);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('does not exist for a class with another decorator of class-validator or class-transformer', () => {
    class Validated extends Fields {
      @IsString()
      declare name: string;
    }
    class Transformed extends Fields {
      @Transform(({ value }: { value: unknown }) => value)
      declare name: string;
    }
    expect([FieldTable.of(Validated), FieldTable.of(Transformed)]).toEqual([undefined, undefined]);
  });

  it('refuses with a rule that returns a promise, because it is not awaited', async () => {
    class Slow {
      @Rule('slow', 'This is slow.', (() => Promise.resolve(true)) as unknown as () => boolean)
      name!: string;
    }
    const { faults: errors } = (await outcomeOf({ name: 'a' }, { type: 'body', metatype: Slow })) as {
      faults: unknown;
    };
    expect(errors).toEqual([{ field: 'name', code: 'slow', message: 'This is slow.' }]);
  });
});
