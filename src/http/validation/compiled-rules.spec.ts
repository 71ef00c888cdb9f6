import { plainToInstance } from 'class-transformer';
import {
  ArrayNotEmpty,
  IsDefined,
  IsInt,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
  Validate,
  ValidateIf,
  ValidateNested,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
  validate,
} from 'class-validator';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { CompiledRules } from './compiled-rules.js';
import { Int64, Text } from './fields.js';

class Plain {
  @IsString()
  @MaxLength(3)
  name: unknown;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(9)
  count: unknown;
}

class Heir extends Plain {
  @IsInt({ each: true })
  @ArrayNotEmpty()
  numbers: unknown;

  @IsDefined()
  given: unknown;
}

class Conditional {
  @ValidateIf((object: Conditional) => object.kind === 'a')
  @IsString()
  text: unknown;

  @IsString({ validateIf: (_, value) => value !== null })
  other: unknown;

  @IsOptional()
  kind: unknown;
}

class Inner {
  @IsString()
  text: unknown;
}

class Nested {
  @ValidateNested()
  inner: unknown;
}

class Grouped {
  @IsString({ groups: ['some'] })
  text: unknown;
}

@ValidatorConstraint({ async: true })
class SlowlyEven implements ValidatorConstraintInterface {
  validate(value: unknown): Promise<boolean> {
    return Promise.resolve(value === 2);
  }
}

/** Of the kind that does not tell that it is asynchronous. */
@ValidatorConstraint()
class SilentlySlow implements ValidatorConstraintInterface {
  async validate(value: unknown): Promise<boolean> {
    if (value === 3) throw new Error('The database is gone.');
    return Promise.resolve(value === 2);
  }
}

class Asynchronous {
  @Validate(SlowlyEven)
  count: unknown;
}

class SilentlyAsynchronous {
  @Validate(SilentlySlow)
  count: unknown;
}

/** Keeps what it is given. */
@ValidatorConstraint()
class Listening implements ValidatorConstraintInterface {
  static readonly given: unknown[] = [];

  validate(...given: unknown[]): boolean {
    return Listening.given.push(given) > 0;
  }
}

class Told {
  @ValidateIf((...given) => Listening.given.push(given) > 0)
  @Validate(Listening, ['a constraint'])
  count = 2;
}

/** As the bodies of the service declare them. */
class Fields {
  @Text({ maxLength: 3 })
  name!: string;

  @Int64({ default: 2 })
  categoryId!: bigint;

  @Text({ maxLength: 10, optional: true, nullable: true })
  status?: string | null;
}

class WithoutRules {
  text: unknown;
}

const CLASSES = {
  Plain,
  Heir,
  Conditional,
  Nested,
  Grouped,
  Asynchronous,
  SilentlyAsynchronous,
  WithoutRules,
  Fields,
};
const OPTIONS = { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false };

const value = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(undefined, null, '', 'a', 'abcd', 'available', 1, 2, 9, 10, 1.5, 1n),
  },
  fc.array(fc.constantFrom<unknown>(1, 2, 'a'), { maxLength: 3 }),
  fc.constantFrom<unknown>(new Set([1]), new Map([[1, 'a']]), {}, Object.assign(new Inner(), { text: 'a' })),
);
const MEMBERS = [
  'name',
  'count',
  'numbers',
  'given',
  'text',
  'other',
  'kind',
  'inner',
  'categoryId',
  'status',
  'unknown',
];

/** Objects of which each member is there or not, whatever their class has rules for. */
const members = fc.dictionary(fc.constantFrom(...MEMBERS), value, { maxKeys: MEMBERS.length });

/** Fields of the service read what is of another kind before its rules are asked. */
const instanceOf = (type: new () => object, given: object): object =>
  type === Fields ? plainToInstance(type, given) : Object.assign(new type(), given);

describe('rules that are compiled', () => {
  it.each(Object.keys(CLASSES) as (keyof typeof CLASSES)[])(
    'accept nothing of %s that class-validator refuses',
    async (name) => {
      const rules = new CompiledRules();
      await fc.assert(
        fc.asyncProperty(members, async (given) => {
          const object = instanceOf(CLASSES[name], given);
          if (!rules.accept(object, OPTIONS)) return;
          expect(await validate(object, OPTIONS)).toEqual([]);
        }),
        { numRuns: 500 },
      );
    },
  );

  it.each(['Plain', 'Heir', 'Conditional', 'Grouped', 'Fields'] as const)(
    'accept all of %s that class-validator accepts, unless it is a set or a map',
    async (name) => {
      const rules = new CompiledRules();
      await fc.assert(
        fc.asyncProperty(members, async (given) => {
          const object = instanceOf(CLASSES[name], given);
          if (Object.values(given).some((member) => member instanceof Set || member instanceof Map)) return;
          const faults = await validate(instanceOf(CLASSES[name], given), OPTIONS);
          expect(rules.accept(object, OPTIONS)).toBe(faults.length === 0);
        }),
        { numRuns: 1_000 },
      );
    },
  );

  it.each([
    {
      name: 'a nested object',
      object: Object.assign(new Nested(), { inner: Object.assign(new Inner(), { text: 'a' }) }),
    },
    { name: 'an asynchronous rule', object: Object.assign(new Asynchronous(), { count: 2 }) },
    {
      name: 'a rule that answers a promise',
      object: Object.assign(new SilentlyAsynchronous(), { count: 2 }),
    },
    { name: 'a rule that rejects', object: Object.assign(new SilentlyAsynchronous(), { count: 3 }) },
    { name: 'an object without a class', object: Object.create(null) as object },
    {
      name: 'an object that names its class itself',
      object: Object.assign(new Inner(), { text: 'a', constructor: Inner }),
    },
  ])('leave $name to class-validator', ({ object }) => {
    expect(new CompiledRules().accept(object)).toBe(false);
  });

  it.each(['Plain', 'Fields', 'WithoutRules'] as const)(
    'leave of %s what class-validator leaves, where unknown members are none of its faults',
    async (name) => {
      const options = { ...OPTIONS, forbidNonWhitelisted: false };
      const rules = new CompiledRules();
      await fc.assert(
        fc.asyncProperty(members, async (given) => {
          const [compiled, plain] = [instanceOf(CLASSES[name], given), instanceOf(CLASSES[name], given)];
          const faults = await validate(plain, options);
          if (rules.accept(compiled, options)) expect(faults).toEqual([]);
          else await validate(compiled, options);
          expect(compiled).toStrictEqual(plain);
        }),
        { numRuns: 500 },
      );
    },
  );

  it('ask a rule that answers promises once, and then leave its class to class-validator', () => {
    const asked = vi.spyOn(SilentlySlow.prototype, 'validate');
    const rules = new CompiledRules();
    const object = Object.assign(new SilentlyAsynchronous(), { count: 2 });
    expect([rules.accept(object), rules.accept(object)]).toEqual([false, false]);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('are given what class-validator gives', async () => {
    const object = new Told();
    expect(new CompiledRules().accept(object)).toBe(true);
    const compiled = Listening.given.splice(0);
    expect(await validate(object, OPTIONS)).toEqual([]);
    expect(compiled).toHaveLength(2);
    expect(compiled).toEqual(Listening.given);
  });
});
